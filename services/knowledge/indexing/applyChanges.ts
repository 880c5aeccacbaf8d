import { setTimeout as sleep } from "node:timers/promises";
import { ConfirmIndexed, FailIndexing } from "#events/document.ts";
import type { EventLog } from "#events/ports.ts";
import { withTrace } from "#events/spans.ts";
import { parseTraceHeaders } from "#events/trace.ts";
import type { IndexChangeId, ChangeResult, PassageIndex, PassageRemoval } from "../passageIndex.ts";
import type { Send } from "../../send.ts";
import { findPagePrice } from "../pagePrice.ts";
import type { IndexContents } from "./contents.ts";
import type { WantedGeneration } from "./planChanges.ts";
import { lastFinishTime, putGenerations, type PutBatch, type PutDeps, type RoundLimits } from "./putGenerations.ts";

/** Pauses before refused documents are tried again, each in a change of its own. */
const RETRY_AFTER_MS = [200, 1_000];
/** Documents per removal. */
const REMOVAL_BATCH = 500;
const REFUSED = "The document could not be taken into the search index.";

export interface ApplyDeps extends PutDeps {
  log: Pick<EventLog, "heads" | "read" | "event">;
  index: Pick<PassageIndex, "put" | "remove" | "waitFor" | "exists">;
  send: Send;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

/** The index no longer exists, or lacks passages. */
export class IndexLost extends Error {
  override name = "IndexLost";
}

/** The index held passages that search must not show. */
export class SurplusPassages extends Error {
  override name = "SurplusPassages";
}

/** Removes surplus passages, and waits until they are gone. */
export async function removeSurplus(
  { index }: { index: Pick<PassageIndex, "remove" | "waitFor"> },
  id: string,
  surplus: PassageRemoval[],
): Promise<void> {
  const changes: IndexChangeId[] = [];
  for (let n = 0; n < surplus.length; n += REMOVAL_BATCH)
    changes.push(...(await index.remove(id, surplus.slice(n, n + REMOVAL_BATCH))));
  for (const result of (await index.waitFor(changes)).values()) requireRemoved(result);
}

interface IndexChanges {
  wanted: WantedGeneration[];
  superseded: PassageRemoval[];
  limits: RoundLimits;
}

/**
 * Puts wanted generations, removes superseded ones, and waits until both are done. A document that the server refuses is tried
 * three times in all. Returns the refused ones, and those beyond the `limits` of a round. Throws if the search server or the log is
 * unavailable, or the index is lost.
 */
export async function applyChanges(
  deps: ApplyDeps,
  index: string,
  { wanted, superseded, limits }: IndexChanges,
  contents: IndexContents,
): Promise<{ refused: Set<WantedGeneration>; deferred: Set<WantedGeneration> }> {
  const missing = wanted.filter(({ finished_at }) => finished_at === undefined);
  const first = await putGenerations(deps, index, missing, limits);
  const removal = superseded.length > 0 ? await deps.index.remove(index, superseded) : [];
  const results = await waitForChanges(deps, index, [...first.batches.flatMap(({ changes }) => changes), ...removal]);
  let open = [...first.unreadable, ...recordContents(first.batches, results, contents)];
  for (const pause of RETRY_AFTER_MS) {
    if (open.length === 0) break;
    await sleep(pause);
    const { batches, unreadable } = await putGenerations(deps, index, open, { batchPassages: 1 });
    const changes = batches.flatMap((batch) => batch.changes);
    open = [...unreadable, ...recordContents(batches, await waitForChanges(deps, index, changes), contents)];
  }
  for (const change of removal) requireRemoved(results.get(change)!);
  return { refused: new Set(open), deferred: new Set(first.deferred) };
}

/** Confirms or fails the indexing of the documents that wait for it. */
export async function reportResults(
  { send, log }: ApplyDeps,
  wanted: WantedGeneration[],
  refused: Set<WantedGeneration>,
): Promise<void> {
  const report = async (one: WantedGeneration): Promise<void> => {
    const ids = { document_id: one.document_id, generation: one.text.generation };
    if (refused.has(one)) await send(one, FailIndexing.type, { ...ids, error: REFUSED });
    // an erased document was not put and has no finish time
    else if (one.finished_at) {
      const per_page = await findPagePrice(log, one.organization_id);
      await send(one, ConfirmIndexed.type, { ...ids, indexed_at: one.finished_at, per_page });
    }
  };
  const waiting = wanted.filter(({ awaited }) => awaited);
  await Promise.all(waiting.map((one) => withTrace(parseTraceHeaders(one), () => report(one))));
}

async function waitForChanges(
  deps: ApplyDeps,
  index: string,
  changes: IndexChangeId[],
): Promise<Map<IndexChangeId, ChangeResult>> {
  if (changes.length === 0) return new Map();
  const results = await deps.index.waitFor(changes);
  const refusals = [...results.values()].filter((one) => !one.ok);
  if (refusals.length > 0 && !(await deps.index.exists(index))) throw new IndexLost(`the index ${index} is gone`);
  for (const { error } of refusals) deps.onError(new Error(`the search server refused a change: ${error}`));
  return results;
}

/** Records the generations that are in the index now. Returns the refused ones. */
function recordContents(
  batches: PutBatch[],
  results: Map<IndexChangeId, ChangeResult>,
  contents: IndexContents,
): WantedGeneration[] {
  return batches.flatMap(({ wanted, changes }) => {
    const finished_at = lastFinishTime(results, changes);
    if (finished_at === undefined) return wanted;
    for (const one of wanted) {
      one.finished_at = finished_at;
      contents.add(one.document_id, one.text.generation, { position: one.position, finished_at });
    }
    return [];
  });
}

function requireRemoved(result: ChangeResult): void {
  if (!result.ok) throw new Error(`the search server did not remove superseded passages: ${result.error}`);
}
