import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventDefinitions } from "#events/index.ts";
import { projections } from "#projections/index.ts";
import type { Projection } from "#projections/projection.ts";
import { projectEvents } from "#test/projections/projectEvents.ts";
import { readFrozen, type Frozen } from "./frozen.ts";

/** By read model: its version, and a hash of its tables and of the rows it makes from the frozen example of each event. */
type Rows = Record<string, { version: number; sha256: string }>;

const FILE = join(import.meta.dirname, "../../projections/rows.json");
const STREAM = "example-0198c0de-0000-7000-8000-00000000000a";

/** The changes with personal fields and without them, as before and after an erasure. */
const changesOf = (projection: Projection, { type, example }: Frozen): unknown[] =>
  [example.personal, undefined].map((personal) =>
    projectEvents(projection, STREAM, { type, data: example.data, personal }),
  );

/** Makes the hash independent of the order of columns. */
const sortColumns = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

function hashRows(projection: Projection, examples: ReadonlyMap<string, Frozen>): string {
  const tables = readFileSync(projection.tables, "utf8").replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ");
  const types = Object.keys(projection.on).toSorted();
  const changes = types.map((type) => [type, changesOf(projection, examples.get(type)!)]);
  return createHash("sha256")
    .update(JSON.stringify([tables, changes], sortColumns))
    .digest("hex");
}

export function rowsNow(): Rows {
  const isCurrent = ({ type, version }: Frozen) => eventDefinitions.get(type)?.version === version;
  const examples = new Map(
    readFrozen()
      .filter(isCurrent)
      .map((one) => [one.type, one]),
  );
  return Object.fromEntries(
    projections.map((one) => [one.name, { version: one.version, sha256: hashRows(one, examples) }]),
  );
}

/** Read models whose rows differ from those stored for their version. */
export function rowFaults(kept: Rows, now: Rows): string[] {
  return Object.entries(now).flatMap(([name, { version, sha256 }]) => {
    const before = kept[name];
    if (before?.version !== version)
      return [`${name}: the rows of version ${version} are not kept: run \`node dev/checks/freeze.ts\``];
    return before.sha256 === sha256
      ? []
      : [`${name}: its tables or rows have changed: raise its version, so that the next start rebuilds it`];
  });
}

export const readRows = (): Rows => JSON.parse(readFileSync(FILE, "utf8")) as Rows;

/** Stores the rows of new versions. Does not replace stored rows that differ; `rowFaults` reports them. */
export function freezeRows(): void {
  const kept = readRows();
  const rows = Object.entries(rowsNow()).map(([name, now]) => [
    name,
    kept[name]?.version === now.version ? kept[name] : now,
  ]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
}
