import { setTimeout as sleep } from "node:timers/promises";
import { hasLeader } from "#infra/postgres/leader.ts";
import type { Db } from "#projections/projection.ts";
import { INDEX_VERSION } from "#services/knowledge/indexing/buildIndex.ts";
import { CliError } from "../cliError.ts";

const POLL_MS = 100;
const LEADER = "passages";
const LEADER_POLL_MS = 1_000;
/** A standby takes over within 11 s, and a supervisor starts a process again within some more. */
const MAX_LEADERLESS_MS = 30_000;
/** A batch of 500 long documents takes minutes, and so does a search server that is busy with other changes. */
const MAX_STALLED_MS = 600_000;
const seconds = (ms: number): string => `${ms / 1_000} s`;

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

/** Throws CliError if no process fills the new index any more, or if it has made no progress for long. */
function createStallCheck(db: Db) {
  let reached: number | undefined;
  const began = performance.now();
  let [movedAt, ledAt, lookedAt] = [began, began, began];

  async function requireLeader(): Promise<void> {
    lookedAt = performance.now();
    if (await hasLeader(db, LEADER)) ledAt = lookedAt;
    else if (lookedAt - ledAt >= MAX_LEADERLESS_MS)
      throw new CliError(
        `No services process has run for ${seconds(MAX_LEADERLESS_MS)}, so nothing fills the new index`,
        "start one: it fills the index from the beginning, and svc projections status shows how far it is",
      );
  }

  return async ({ position, target }: NonNullable<PassagesStatus["building"]>): Promise<void> => {
    const now = performance.now();
    if (position !== reached) [reached, movedAt] = [position, now];
    if (now - lookedAt >= LEADER_POLL_MS) await requireLeader();
    if (now - movedAt >= MAX_STALLED_MS)
      throw new CliError(
        `The new index has been at position ${position} of ${target ?? "?"} for ${seconds(MAX_STALLED_MS)}`,
        "read the log of the services process and run svc doctor; the index continues once the cause is gone",
      );
  };
}

/**
 * Requests a new index from the running service, and waits until it serves or was rejected because it lacks documents. Throws
 * CliError if no process fills it; the request stays.
 */
export async function rebuildPassages(
  db: Db,
  onProgress: (position: number, target: number) => void,
): Promise<PassagesStatus & { serves: boolean }> {
  const before = await readPassagesStatus(db);
  if (before.index_id === null)
    throw new CliError("There is no passage index yet", "upload a document, the first one creates it");
  if (!(await hasLeader(db, LEADER)))
    throw new CliError("No services process is running to fill the new index", "start the service, then retry");
  await db.query("insert into ops.index_builds default values on conflict do nothing");
  const requireProgress = createStallCheck(db);
  for (;;) {
    const status = await readPassagesStatus(db);
    if (!status.building) return { ...status, serves: status.index_id !== before.index_id };
    if (status.building.target !== null) onProgress(status.building.position, status.building.target);
    await requireProgress(status.building);
    await sleep(POLL_MS);
  }
}
