import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventLog } from "#events/ports.ts";
import type { IndexPlace, PassageIndex } from "../passageIndex.ts";
import { apply, IndexLost, type ApplyDeps } from "./apply.ts";
import { createContents, type Contents } from "./contents.ts";
import { createRefusals, type Refusals } from "./refusals.ts";
import type { Lock } from "./lock.ts";
import { FOLLOWED, planFor } from "./plan.ts";

/** Raise it where what the index holds of a passage changes: then a new one is filled beside the one that serves. */
export const INDEX_VERSION = 1;
/** Events that are looked at together. */
export const BATCH = 500;
const AGAIN_AFTER_MS = 1_000;
/** The read model is some milliseconds behind, unless nobody follows the log into it. */
const [SHOWN_LOOKS, SHOWN_AFTER_MS] = [100, 20];

export interface BuildDeps extends ApplyDeps {
  log: Pick<EventLog, "scan" | "heads" | "read">;
  index: PassageIndex;
  place: IndexPlace;
  /** What the names of this deployment's indexes begin with. */
  prefix: string;
}

/** A new index lacks documents that the serving one has. */
export class Poorer extends Error {
  override name = "Poorer";
}

export const newIndexId = (prefix: string): string => `${prefix}-passages-${randomBytes(4).toString("hex")}`;

/**
 * Fills a new index from the beginning of the log, beside the one that serves, and has it serve. The last events are taken
 * in while `lock` keeps the follower from telling documents that they are found. Throws when the new index is lost as well, and
 * Poorer where it could not take what the other one has.
 */
export async function build(
  deps: BuildDeps,
  { index, from, lock, signal }: { index: string; from: string; lock: Lock; signal: AbortSignal },
): Promise<{ contents: Contents; refusals: Refusals }> {
  const contents = createContents();
  const refusals = createRefusals(deps);
  let position = 0;
  /** Whether there is more. */
  const round = async (): Promise<boolean> => {
    if (!(await deps.index.exists(index))) throw new IndexLost(`the index ${index} is gone`);
    const { events, seen } = await deps.log.scan(position, FOLLOWED, BATCH);
    const { wanted, deleted, older } = await planFor(deps.log, events, contents);
    refusals.note(wanted, await apply(deps, index, { wanted, superseded: [...deleted, ...older] }, contents));
    position = seen;
    await deps.place.filled(position, Math.max(position, (await deps.place.look()).head));
    return events.length === BATCH;
  };
  const persist = async (): Promise<boolean> => {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await round();
      } catch (error) {
        if (error instanceof IndexLost) throw error;
        deps.onError(error);
        await sleep(AGAIN_AFTER_MS, undefined, { signal });
      }
    }
  };

  /** How many documents search would find no more. */
  const poorer = async (): Promise<number> => {
    if (refusals.documents().length === 0 || !(await deps.index.exists(from))) return 0;
    const held = await deps.index.generations(from);
    if (!held) throw new Error(`it cannot be told what ${from} has`);
    return held.filter(refusals.has).length;
  };

  await deps.index.create(index);
  while (await persist());
  await lock(async () => {
    while (await persist());
    const lost = await poorer();
    if (lost > 0) {
      await deps.place.decline();
      throw new Poorer(`a new index could not take ${lost} documents that ${from} has: that one goes on serving`);
    }
    for (let looks = 0; looks < SHOWN_LOOKS && (await deps.place.look()).shown < position; looks++)
      await sleep(SHOWN_AFTER_MS, undefined, { signal });
    if (!(await deps.place.flip(from, { index, version: INDEX_VERSION }, position)))
      throw new Error(`${index} was filled, but ${from} does not serve any more`);
  });
  return { contents, refusals };
}
