import { setTimeout as sleep } from "node:timers/promises";
import { ConfirmIndexed, FailIndexing } from "#events/document.ts";
import { withTrace } from "#events/spans.ts";
import { traceFrom } from "#events/trace.ts";
import type { Change, PassageIndex, Settled, Superseded } from "../passageIndex.ts";
import type { Send } from "../../send.ts";
import type { Contents } from "./contents.ts";
import type { Wanted } from "./plan.ts";
import { finishedAt, put, type PutDeps } from "./put.ts";

/** Waits before what was refused is tried again, each document alone. */
const AGAIN_AFTER_MS = [200, 1_000];
const REFUSED = "The document could not be taken into the search index.";

export interface ApplyDeps extends PutDeps {
  index: Pick<PassageIndex, "put" | "remove" | "settled" | "exists">;
  send: Send;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

/** The index is not there any more: nothing can be said of its documents. */
export class IndexLost extends Error {
  override name = "IndexLost";
}

/** The index holds what it should not. */
export class Surplus extends Error {
  override name = "Surplus";
}

/** Documents that one change names. */
const OUT_AT_ONCE = 500;

/** Takes out what is too much, and waits until it is gone. */
export async function takeOut(
  { index }: { index: Pick<PassageIndex, "remove" | "settled"> },
  id: string,
  surplus: Superseded[],
): Promise<void> {
  const changes: Change[] = [];
  for (let n = 0; n < surplus.length; n += OUT_AT_ONCE)
    changes.push(await index.remove(id, surplus.slice(n, n + OUT_AT_ONCE)));
  for (const outcome of (await index.settled(changes)).values()) mustBeDone(outcome);
}

/**
 * Puts what is wanted and takes out what was superseded, and waits until it is so. A document that the server refuses is tried
 * three times in all; those that it will not have are the answer. Throws when the server or the log cannot be asked, or the index is lost.
 */
export async function apply(
  deps: ApplyDeps,
  index: string,
  { wanted, superseded }: { wanted: Wanted[]; superseded: Superseded[] },
  contents: Contents,
): Promise<Set<Wanted>> {
  const missing = wanted.filter(({ finished_at }) => finished_at === undefined);
  const first = await put(deps, index, missing);
  const removal = superseded.length > 0 ? [await deps.index.remove(index, superseded)] : [];
  const settled = await settle(deps, index, [...first.groups.flatMap(({ changes }) => changes), ...removal]);
  let open = [...first.broken, ...noted(first.groups, settled, contents)];
  for (const wait of AGAIN_AFTER_MS) {
    if (open.length === 0) break;
    await sleep(wait);
    const { groups, broken } = await put(deps, index, open, 1);
    const outcome = await settle(
      deps,
      index,
      groups.flatMap(({ changes }) => changes),
    );
    open = [...broken, ...noted(groups, outcome, contents)];
  }
  for (const change of removal) mustBeDone(settled.get(change)!);
  return new Set(open);
}

/** Tells the documents that wait what became of them. */
export async function report({ send }: ApplyDeps, wanted: Wanted[], refused: Set<Wanted>): Promise<void> {
  const tell = async (one: Wanted): Promise<void> => {
    const ids = { document_id: one.document_id, generation: one.text.generation };
    if (refused.has(one)) await send(one, FailIndexing.type, { ...ids, error: REFUSED });
    // one that was erased meanwhile was not put
    else if (one.finished_at) await send(one, ConfirmIndexed.type, { ...ids, indexed_at: one.finished_at });
  };
  const waiting = wanted.filter(({ awaited }) => awaited);
  await Promise.all(waiting.map((one) => withTrace(traceFrom(one), () => tell(one))));
}

async function settle(deps: ApplyDeps, index: string, changes: Change[]): Promise<Map<Change, Settled>> {
  if (changes.length === 0) return new Map();
  const settled = await deps.index.settled(changes);
  const refusals = [...settled.values()].filter((one) => !one.ok);
  if (refusals.length > 0 && !(await deps.index.exists(index))) throw new IndexLost(`the index ${index} is gone`);
  for (const { error } of refusals) deps.onError(new Error(`the search server refused a change: ${error}`));
  return settled;
}

/** Notes what is in the index now; the rest is the answer. */
function noted(groups: { wanted: Wanted[]; changes: Change[] }[], settled: Map<Change, Settled>, contents: Contents) {
  return groups.flatMap(({ wanted, changes }) => {
    const finished_at = finishedAt(settled, changes);
    if (finished_at === undefined) return wanted;
    for (const one of wanted) {
      one.finished_at = finished_at;
      contents.add(one.document_id, one.text.generation, { position: one.position, finished_at });
    }
    return [];
  });
}

function mustBeDone(outcome: Settled): void {
  if (!outcome.ok) throw new Error(`the search server did not take out what was superseded: ${outcome.error}`);
}
