import type { EventLog } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { stored } from "../../deciders/documentState.ts";
import { stateOf } from "../../states.ts";
import type { Held } from "../passageIndex.ts";
import type { Wanted } from "./plan.ts";

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [30_000, 3_600_000];

/** A document that is ready is not in the index as it stands now. */
export class NotIndexed extends Error {
  override name = "NotIndexed";
}

export type Refusals = ReturnType<typeof createRefusals>;

/** Generations that search may show and an index did not take; they are tried again, less and less often. Who waits to be ready was told. */
export function createRefusals({ onError }: { onError(error: unknown): void }, firstWaitMs = FIRST_WAIT_MS) {
  const waiting = new Map<string, { one: Wanted; at: number; wait: number }>();
  const keyOf = ({ document_id, generation }: Pick<Held, "document_id" | "generation">): string =>
    `${document_id}/${generation}`;
  const keyFor = ({ document_id, text }: Wanted): string => keyOf({ document_id, generation: text.generation });

  return {
    /** Notes what became of those that were tried. */
    note(tried: Wanted[], refused: Set<Wanted>): void {
      for (const one of tried) {
        const key = keyFor(one);
        const before = waiting.get(key);
        waiting.delete(key);
        if (one.awaited || !refused.has(one)) continue;
        const wait = before ? Math.min(2 * before.wait, LONGEST_WAIT_MS) : firstWaitMs;
        waiting.set(key, { one, at: performance.now() + wait, wait });
        onError(
          new NotIndexed(`${one.stream} is not in the index as it is now; it is tried again in ${wait / 1_000} s`),
        );
      }
    },
    /** Ids of their documents. */
    documents: (): string[] => [...waiting.values()].map(({ one }) => one.document_id),
    has: (one: Pick<Held, "document_id" | "generation">): boolean => waiting.has(keyOf(one)),
    /** Those whose time has come, as they stand now; what is deleted or was superseded is dropped. */
    async due(log: Pick<EventLog, "heads" | "read">): Promise<Wanted[]> {
      const now = performance.now();
      const tried = [...waiting.values()].filter(({ at }) => at <= now).map(({ one }) => one);
      if (tried.length === 0) return [];
      const heads = await log.heads(tried.map(({ stream }) => stream));
      const again: Wanted[] = [];
      for (const one of tried) {
        const head = heads.get(one.stream);
        const state = head && stored((await stateOf(log, head, document)).state);
        if (state?.live?.generation === one.text.generation) again.push({ ...one, position: head!.position });
        else waiting.delete(keyFor(one));
      }
      return again;
    },
  };
}
