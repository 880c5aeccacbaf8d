import { projections } from "#projections/index.ts";
import type { Db } from "#projections/projection.ts";
import { withDatabase } from "../connect.ts";
import { firstLine, print, printJson, formatTable } from "../output.ts";
import { readPassagesStatus, type PassagesStatus } from "./passages.ts";

export interface ParkedStream {
  stream: string;
  position: number;
  error: string;
  parked_at: Date;
}

export interface ProjectionStatus {
  name: string;
  /** The serving version; null before the first build. */
  version: number | null;
  /** This code's version. */
  wanted_version: number;
  position: number | null;
  /** Number of events not processed yet. */
  lag: number;
  parked: ParkedStream[];
}

const CHECKPOINTS = "select c.name, c.version, c.position from log.checkpoints c";
const PARKED = "select projection, stream, position, error, parked_at from log.parked order by position";

/** The state of each read model. */
export async function readStatus(db: Db): Promise<{ head: number; projections: ProjectionStatus[] }> {
  const checkpoints = await db.query<{ name: string; version: number; position: number }>(CHECKPOINTS);
  const parked = await db.query<ParkedStream & { projection: string }>(PARKED);
  const [head] = await db.query<{ position: number }>("select position from log.head");
  const statuses = projections.map((projection) => {
    const checkpoint = checkpoints.find((row) => row.name === projection.name);
    return {
      name: projection.name,
      version: checkpoint?.version ?? null,
      wanted_version: projection.version,
      position: checkpoint?.position ?? null,
      lag: head!.position - (checkpoint?.position ?? 0),
      parked: parked.filter((row) => row.projection === projection.name).map(({ projection: _, ...row }) => row),
    };
  });
  return { head: head!.position, projections: statuses };
}

const formatVersion = ({ version, wanted_version }: Pick<ProjectionStatus, "version" | "wanted_version">): string =>
  version === null ? "not built" : version === wanted_version ? String(version) : `${version}, not ${wanted_version}`;

function describePassages({ index_id, documents, building }: PassagesStatus): string {
  if (index_id === null) return "There is no passage index yet: the first document creates it.";
  const summary = `The passage index ${index_id} finds ${documents} ${documents === 1 ? "document" : "documents"}`;
  if (!building) return `${summary}.`;
  return `${summary}; a new one is at position ${building.position} of ${building.target ?? "?"}.`;
}

/** Prints how far each read model and the passage index are behind the log. */
export function status(options: { json?: boolean }): Promise<void> {
  return withDatabase(async ({ db }) => {
    const { head, projections: statuses } = await readStatus(db);
    const passages = await readPassagesStatus(db);
    if (options.json) return printJson({ head, projections: statuses, passages });
    const rows = statuses.map((one) => [
      one.name,
      formatVersion(one),
      String(one.position ?? "-"),
      String(one.lag),
      String(one.parked.length),
    ]);
    rows.push(["passages", formatVersion(passages), String(passages.position), String(passages.lag), "-"]);
    print(formatTable([["projection", "version", "position", "lag", "parked"], ...rows]));
    print(describePassages(passages));
    for (const { name, parked } of statuses)
      for (const { stream, position, error } of parked)
        print(`${name} has parked ${stream} at position ${position}: ${firstLine(error)}`);
    print(`The log's head is at ${head}.`);
  });
}
