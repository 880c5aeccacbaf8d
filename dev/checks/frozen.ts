import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { EventDefinition, StoredFields } from "#events/define.ts";
import { eventDefinitions } from "#events/index.ts";

/** The schema of an event version that was ever written, with an example: logs that contain it must stay readable forever. */
export interface Frozen {
  type: string;
  version: number;
  public: Schema;
  personal: Schema | null;
  example: StoredFields;
}
export interface Schema {
  [word: string]: any;
}

const FOLDER = join(import.meta.dirname, "../..", "events", "frozen");
const fileOf = (type: string, version: number): string => join(FOLDER, `${type}.v${version}.json`);

const schemaOf = (type: z.ZodType): Schema => {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: "output", unrepresentable: "any" }) as Schema;
  return schema;
};

/** A deterministic value that matches a schema, with all properties. */
function sampleOf(schema: Schema): unknown {
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  if (schema["enum"]) return schema["enum"][0];
  if (schema["anyOf"] ?? schema["oneOf"]) return sampleOf((schema["anyOf"] ?? schema["oneOf"])[0]);
  switch (schema["type"]) {
    case "object":
      return Object.fromEntries(Object.entries(schema["properties"] ?? {}).map(([k, v]) => [k, sampleOf(v as Schema)]));
    case "array":
      return schema["items"] ? [sampleOf(schema["items"])] : [];
    case "string":
      return sampleText(schema);
    case "integer":
    case "number":
      return Math.max(1, schema["minimum"] ?? 1);
    case "boolean":
      return true;
    default:
      return null;
  }
}

function sampleText({ format, minLength = 0, maxLength = 22, pattern }: Schema): string {
  if (format === "uuid") return "0198c0de-0000-7000-8000-00000000000a";
  if (format === "date-time") return "2026-01-02T03:04:05.678Z";
  if (pattern?.startsWith("^[A-Za-z_]")) return "a_name";
  if (pattern?.startsWith("^(\\*|")) return "*";
  if (pattern?.startsWith("^(\\/")) return "/key";
  if (pattern) return "example";
  return "example of a text of characters".slice(0, Math.max(minLength, Math.min(maxLength, 22)));
}

const frozenOf = ({ type, version, ...definition }: EventDefinition): Frozen => {
  const [data, personal] = [schemaOf(definition.public), definition.personal ? schemaOf(definition.personal) : null];
  const example = {
    data: sampleOf(data) as StoredFields["data"],
    personal: personal ? (sampleOf(personal) as StoredFields["data"]) : undefined,
  };
  return { type, version, public: data, personal, example };
};

export const readFrozen = (): Frozen[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Frozen);

/** Stores the event versions that have no file yet. Returns their names. */
export function freeze(): string[] {
  mkdirSync(FOLDER, { recursive: true });
  const known = new Set(readFrozen().map(({ type, version }) => `${type}.v${version}`));
  const fresh = [...eventDefinitions.values()].filter(({ type, version }) => !known.has(`${type}.v${version}`));
  for (const definition of fresh)
    writeFileSync(fileOf(definition.type, definition.version), `${JSON.stringify(frozenOf(definition), null, 2)}\n`);
  return fresh.map(({ type, version }) => `${type}.v${version}`);
}

/** Reasons why the newer schema might not read what the older one wrote, or might surprise a reader; empty if there are none. */
export function findBreakingChanges(before: Schema, now: Schema, path = ""): string[] {
  if (isDeepStrictEqual(before, now)) return [];
  const options = (schema: Schema): Schema[] | undefined => schema["anyOf"] ?? schema["oneOf"];
  const [old, fresh] = [options(before), options(now)];
  if (old || fresh)
    return (old ?? [before]).every((each) =>
      (fresh ?? [now]).some((other) => findBreakingChanges(each, other, path).length === 0),
    )
      ? []
      : [`${path || "/"}: not every form of before is a form of now`];
  if (before["const"] !== undefined || before["enum"]) {
    const values: unknown[] = before["enum"] ?? [before["const"]];
    const still: unknown[] = now["enum"] ?? [now["const"]];
    return values.every((value) => still.includes(value)) ? [] : [`${path}: a value is gone`];
  }
  if (before["type"] !== now["type"]) return [`${path || "/"}: was ${before["type"]}, is ${now["type"]}`];
  if (before["type"] === "array") return findBreakingChanges(before["items"] ?? {}, now["items"] ?? {}, `${path}/[]`);
  if (before["type"] !== "object") return [];
  const had: Schema = before["properties"] ?? {};
  const has: Schema = now["properties"] ?? {};
  const gone = Object.keys(had).filter((name) => !(name in has));
  const newlyRequired = ((now["required"] ?? []) as string[]).filter(
    (name) => !(before["required"] ?? []).includes(name),
  );
  return [
    ...gone.map((name) => `${path}/${name}: is gone`),
    ...newlyRequired.map((name) => `${path}/${name}: is required now`),
    ...Object.keys(had).flatMap((name) =>
      name in has ? findBreakingChanges(had[name], has[name], `${path}/${name}`) : [],
    ),
  ];
}

/** Faults of the current events: each must be frozen, and a frozen schema must not change. */
export function findFrozenFaults(): string[] {
  const frozen = new Map(readFrozen().map((one) => [`${one.type}.v${one.version}`, one]));
  return [...eventDefinitions.values()].flatMap((definition) => {
    const name = `${definition.type}.v${definition.version}`;
    const before = frozen.get(name);
    if (!before) return [`${name} is not frozen: run \`node dev/checks/freeze.ts\``];
    const now = frozenOf(definition);
    const changes = [
      ...findBreakingChanges(before.public, now.public),
      ...(before.personal && now.personal ? findBreakingChanges(before.personal, now.personal) : []),
      ...((before.personal === null) === (now.personal === null) ? [] : ["personal fields came or went"]),
    ];
    return changes.map((change) => `${name}${change}: raise the event's version and give it an upcast`);
  });
}
