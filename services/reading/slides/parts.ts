import { posix } from "node:path";
import { parseXml, type Element } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { childrenNamed } from "./names.ts";
import { remembered } from "./remembered.ts";

/** What a part points at, by the id that it uses for it. */
export interface Relation {
  /** The last word of its type: `slide`, `slideLayout`, `chart`, `hyperlink`. */
  kind: string;
  /** The name of a part, or an address where it is external. */
  target: string;
  external: boolean;
}

export interface Parts {
  /** Undefined when the file has no such part. Throws UnreadableFile. */
  xml(name: string): Element | undefined;
  relations(name: string): Map<string, Relation>;
  /** The first part of a kind that this one points at. */
  related(name: string, kind: string): string | undefined;
}

/** `..` leads at most to the archive's root: names are looked up, never opened. */
const resolve = (from: string, target: string): string => posix.join("/", posix.dirname(from), target).slice(1);

const relationOf = (from: string, { attributes }: Element): Relation => {
  const { Type = "", Target = "", TargetMode } = attributes;
  const external = TargetMode === "External";
  const target = external ? Target : Target.startsWith("/") ? resolve("", Target) : resolve(from, Target);
  return { kind: Type.slice(Type.lastIndexOf("/") + 1), target, external };
};

/** The parts of an Office file and how they hang together. */
export const openParts = (zip: Zip): Parts => {
  const xml = (name: string): Element | undefined => {
    const text = zip.text(name);
    return text === undefined ? undefined : parseXml(text);
  };
  const relations = remembered((name) => {
    const root = xml(posix.join(posix.dirname(name), "_rels", `${posix.basename(name)}.rels`));
    const listed = childrenNamed(root, "Relationship");
    return new Map(listed.map((relation) => [relation.attributes["Id"] ?? "", relationOf(name, relation)]));
  });
  return {
    xml,
    relations,
    related: (name, kind) => [...relations(name).values()].find((relation) => relation.kind === kind)?.target,
  };
};
