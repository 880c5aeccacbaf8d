import { posix } from "node:path";
import { parseXml, type Element } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { childrenNamed } from "./localNames.ts";
import { memoize } from "./memoize.ts";

/** A relationship from one part to another or to an address. */
export interface Relation {
  /** The last word of its type: `slide`, `slideLayout`, `chart`, `hyperlink`. */
  kind: string;
  /** The name of a part, or an address if it is external. */
  target: string;
  external: boolean;
}

export interface Parts {
  /** Undefined if the file has no such part. Throws UnreadableFile. */
  xml(name: string): Element | undefined;
  /** The relationships of a part, by their id. */
  relations(name: string): Map<string, Relation>;
  /** The first related part of a kind. */
  related(name: string, kind: string): string | undefined;
}

/** The name of a related part; `..` stops at the archive's root. */
const resolve = (from: string, target: string): string => posix.join("/", posix.dirname(from), target).slice(1);

const readRelation = (from: string, { attributes }: Element): Relation => {
  const { Type = "", Target = "", TargetMode } = attributes;
  const external = TargetMode === "External";
  const target = external ? Target : Target.startsWith("/") ? resolve("", Target) : resolve(from, Target);
  return { kind: Type.slice(Type.lastIndexOf("/") + 1), target, external };
};

/** Opens the parts of an Office file and their relationships. */
export const openParts = (zip: Zip): Parts => {
  const xml = (name: string): Element | undefined => {
    const text = zip.text(name);
    return text === undefined ? undefined : parseXml(text);
  };
  const relations = memoize((name) => {
    const root = xml(posix.join(posix.dirname(name), "_rels", `${posix.basename(name)}.rels`));
    const listed = childrenNamed(root, "Relationship");
    return new Map(listed.map((relation) => [relation.attributes["Id"] ?? "", readRelation(name, relation)]));
  });
  return {
    xml,
    relations,
    related: (name, kind) => [...relations(name).values()].find((relation) => relation.kind === kind)?.target,
  };
};
