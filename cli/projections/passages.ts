import { setTimeout as sleep } from "node:timers/promises";
import { hasLeader } from "#infra/postgres/leader.ts";
import type { Db } from "#projections/projection.ts";
import { INDEX_VERSION } from "#services/knowledge/indexing/buildIndex.ts";
import { CliError } from "../cliError.ts";

const POLL_MS = 100;

export interface PassagesStatus {
  /** Name of the serving index; null before the first document. */
  index_id: string | null;
  /** The version of the code that filled it. */
  version: number | null;
  wanted_version: number;
  position: number;
  /** Number of events not processed yet. */
  lag: number;
  /** Number of documents that search can find. */
  documents: number;
  /** Progress of a new index, if one is being filled. */
  building: { position: number; target: number | null } | null;
}

const STATUS = `
  select s.index_id, s.version, coalesce(c.position, 0) as position, h.position - coalesce(c.position, 0) as lag,
    b.name is not null as building, b.position as built, b.target
  from log.head h
  left join ops.search_index s on s.name = 'passages'
  left join log.checkpoints c on c.name = 'passages'
  left join ops.index_builds b on b.name = 'passages'`;

type StatusRow = Pick<PassagesStatus, "index_id" | "version" | "position" | "lag"> & {
  building: boolean;
  built: number;
  target: number | null;
};

/** Searchable documents in the read model; 0 before it is built. */
async function countDocuments(db: Db): Promise<number> {
  const [model] = await db.query<{ there: boolean }>("select to_regclass('read.documents') is not null as there");
  if (!model!.there) return 0;
  const [row] = await db.query<{ documents: number }>(
    "select count(*)::integer as documents from read.documents where live_generation is not null",
  );
  return row!.documents;
}

/** State of the passage index. */
export async function readPassagesStatus(db: Db): Promise<PassagesStatus> {
  const [row] = await db.query<StatusRow>(STATUS);
  const { building, built, target, ...status } = row!;
  return {
    ...status,
    wanted_version: INDEX_VERSION,
    documents: await countDocuments(db),
    building: building ? { position: built, target } : null,
  };
}

/** Requests a new index from the running service, and waits until it serves or was rejected because it lacks documents. */
export async function rebuildPassages(
  db: Db,
  onProgress: (position: number, target: number) => void,
): Promise<PassagesStatus & { serves: boolean }> {
  const before = await readPassagesStatus(db);
  if (before.index_id === null)
    throw new CliError("There is no passage index yet", "upload a document, the first one creates it");
  if (!(await hasLeader(db, "passages")))
    throw new CliError("No services process is running to fill the new index", "start the service, then retry");
  await db.query("insert into ops.index_builds default values on conflict do nothing");
  for (;;) {
    const status = await readPassagesStatus(db);
    if (!status.building) return { ...status, serves: status.index_id !== before.index_id };
    if (status.building.target !== null) onProgress(status.building.position, status.building.target);
    await sleep(POLL_MS);
  }
}
