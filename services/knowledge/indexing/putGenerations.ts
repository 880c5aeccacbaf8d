import { currentTime } from "#events/clock.ts";
import type { EventLog } from "#events/ports.ts";
import type { DescriptionReader } from "../describeDocument.ts";
import type { IndexChangeId, ChangeResult, IndexedPassage, PassageIndex } from "../passageIndex.ts";
import type { VaultDeps } from "../../thingBlobs.ts";
import { UnreadablePassages, loadPassages } from "./loadPassages.ts";
import type { WantedGeneration } from "./planChanges.ts";

/** Passages that are held in memory and sent together. */
const BATCH_PASSAGES = 2_000;
/** Limits of loading short documents together, which share queries and read their files in parallel. */
const [MAX_LOADS, MAX_LOADED_PASSAGES] = [50, 200];

export interface PutDeps extends VaultDeps {
  log: Pick<EventLog, "event">;
  descriptions: DescriptionReader;
  index: Pick<PassageIndex, "put">;
  onError(error: unknown): void;
}

/** Generations that were sent together. The server takes or refuses all of them. */
export interface PutBatch {
  wanted: WantedGeneration[];
  changes: IndexChangeId[];
}

/** Passages after which no further generation gets into a round: of one organization, and of all. */
export interface RoundLimits {
  share?: number;
  total?: number;
}

interface PutOptions extends RoundLimits {
  batchPassages?: number;
}

/**
 * Sends generations to the index in batches. Erased documents are left out; `unreadable` are those whose blobs do not open, and
 * `deferred` those beyond the limits of the round.
 */
export async function putGenerations(
  deps: PutDeps,
  index: string,
  wanted: WantedGeneration[],
  { batchPassages = BATCH_PASSAGES, share = Infinity, total = Infinity }: PutOptions = {},
): Promise<{ batches: PutBatch[]; unreadable: WantedGeneration[]; deferred: WantedGeneration[] }> {
  const used = new Map<string, number>();
  let usedByAll = 0;
  const deferred: WantedGeneration[] = [];
  const fits = (one: WantedGeneration): boolean => {
    const hasRoom = usedByAll < total && (used.get(one.organization_id) ?? 0) < share;
    if (!hasRoom) deferred.push(one);
    return hasRoom;
  };
  const batches: PutBatch[] = [];
  const unreadable: WantedGeneration[] = [];
  let passages: IndexedPassage[] = [];
  let loaded: WantedGeneration[] = [];
  const flush = async (): Promise<void> => {
    if (loaded.length > 0) batches.push({ wanted: loaded, changes: await deps.index.put(index, passages) });
    [passages, loaded] = [[], []];
  };
  for (const group of groupLoads(wanted)) {
    for (const { generation, found } of await Promise.all(group.filter(fits).map((each) => load(deps, each)))) {
      if (found === "unreadable") unreadable.push(generation);
      else if (found) {
        for (const passage of found) passages.push(passage);
        loaded.push(generation);
        used.set(generation.organization_id, (used.get(generation.organization_id) ?? 0) + found.length);
        usedByAll += found.length;
      }
      if (passages.length >= batchPassages) await flush();
    }
  }
  await flush();
  return { batches, unreadable, deferred };
}

/** Splits generations, in order, into groups that are loaded together. One of unknown length may have 50 MB, and gets a group of its own. */
function* groupLoads(wanted: readonly WantedGeneration[]): Generator<WantedGeneration[]> {
  let [group, passages] = [[] as WantedGeneration[], 0];
  for (const generation of wanted) {
    const { chunk_count = Number.POSITIVE_INFINITY } = generation;
    if (group.length > 0 && (group.length === MAX_LOADS || passages + chunk_count > MAX_LOADED_PASSAGES)) {
      yield group;
      [group, passages] = [[], 0];
    }
    group.push(generation);
    passages += chunk_count;
  }
  if (group.length > 0) yield group;
}

/** `found`: undefined if the document was erased. */
type LoadedGeneration = { generation: WantedGeneration; found: IndexedPassage[] | "unreadable" | undefined };

async function load(deps: PutDeps, generation: WantedGeneration): Promise<LoadedGeneration> {
  try {
    return { generation, found: await loadPassages(deps, generation) };
  } catch (error) {
    if (!(error instanceof UnreadablePassages)) throw error;
    deps.onError(error);
    return { generation, found: "unreadable" };
  }
}

/** When the last change finished; undefined if one was refused. */
export function lastFinishTime(
  results: Map<IndexChangeId, ChangeResult>,
  changes: IndexChangeId[],
): string | undefined {
  let last = "";
  for (const change of changes) {
    const result = results.get(change);
    if (!result?.ok) return undefined;
    if (result.finished_at > last) last = result.finished_at;
  }
  return last === "" ? new Date(currentTime()).toISOString() : last;
}
