import type { EventLog } from "#events/ports.ts";
import type { Change, ChangeResult, IndexedPassage, PassageIndex } from "../passageIndex.ts";
import type { VaultDeps } from "../../thingBlobs.ts";
import { UnreadablePassages, loadPassages } from "./loadPassages.ts";
import type { WantedGeneration } from "./planChanges.ts";

/** Passages that are held in memory and sent together. */
const BATCH_PASSAGES = 2_000;

export interface PutDeps extends VaultDeps {
  log: Pick<EventLog, "read">;
  index: Pick<PassageIndex, "put">;
  onError(error: unknown): void;
}

/** Generations that were sent together. The server takes or refuses all of them. */
export interface PutBatch {
  wanted: WantedGeneration[];
  changes: Change[];
}

/** Sends generations to the index in batches. Erased documents are left out; `unreadable` are those whose blobs do not open. */
export async function putGenerations(
  deps: PutDeps,
  index: string,
  wanted: WantedGeneration[],
  batchPassages = BATCH_PASSAGES,
): Promise<{ batches: PutBatch[]; unreadable: WantedGeneration[] }> {
  const batches: PutBatch[] = [];
  const unreadable: WantedGeneration[] = [];
  let passages: IndexedPassage[] = [];
  let loaded: WantedGeneration[] = [];
  const flush = async (): Promise<void> => {
    if (loaded.length > 0) batches.push({ wanted: loaded, changes: await deps.index.put(index, passages) });
    [passages, loaded] = [[], []];
  };
  for (const one of wanted) {
    try {
      const found = await loadPassages(deps, one);
      if (!found) continue;
      for (const passage of found) passages.push(passage);
      loaded.push(one);
    } catch (error) {
      if (!(error instanceof UnreadablePassages)) throw error;
      deps.onError(error);
      unreadable.push(one);
    }
    if (passages.length >= batchPassages) await flush();
  }
  await flush();
  return { batches, unreadable };
}

/** When the last of the changes was done; undefined if one was refused. */
export function finishedAt(results: Map<Change, ChangeResult>, changes: Change[]): string | undefined {
  let last = "";
  for (const change of changes) {
    const result = results.get(change);
    if (!result?.ok) return undefined;
    if (result.finished_at > last) last = result.finished_at;
  }
  return last === "" ? new Date().toISOString() : last;
}
