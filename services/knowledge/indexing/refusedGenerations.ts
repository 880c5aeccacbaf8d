import type { EventLog } from "#events/ports.ts";
import { HOUR_MS } from "#events/units.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument } from "../../deciders/documentState.ts";
import { readState } from "../../states.ts";
import type { IndexedGeneration } from "../passageIndex.ts";
import type { WantedGeneration } from "./planChanges.ts";

const [FIRST_WAIT_MS, MAX_WAIT_MS] = [30_000, HOUR_MS];

/** The index refused the current state of a ready document. */
export class DocumentNotIndexed extends Error {
  override name = "DocumentNotIndexed";
}

export type RefusedGenerations = ReturnType<typeof createRefusedGenerations>;

type GenerationId = Pick<IndexedGeneration, "document_id" | "generation">;
const generationKey = ({ document_id, generation }: GenerationId): string => `${document_id}/${generation}`;
const keyOf = ({ document_id, text: { generation } }: WantedGeneration) => generationKey({ document_id, generation });

/**
 * Generations that search may show and that the index refused. They are retried at growing intervals. A refused document that was
 * not ready yet is not kept, because it has failed.
 */
export function createRefusedGenerations({ onError }: { onError(error: unknown): void }, firstWaitMs = FIRST_WAIT_MS) {
  const refusals = new Map<string, { one: WantedGeneration; at: number; wait: number }>();
  return {
    /** Records the results of an attempt. */
    note(tried: WantedGeneration[], refused: Set<WantedGeneration>): void {
      for (const one of tried) {
        const key = keyOf(one);
        const before = refusals.get(key);
        refusals.delete(key);
        if (one.awaited || !refused.has(one)) continue;
        const wait = before ? Math.min(2 * before.wait, MAX_WAIT_MS) : firstWaitMs;
        refusals.set(key, { one, at: performance.now() + wait, wait });
        onError(
          new DocumentNotIndexed(`${one.stream} is not indexed in its current state, retry in ${wait / 1_000} s`),
        );
      }
    },
    /** Ids of the refused documents. */
    documents: (): string[] => [...refusals.values()].map(({ one }) => one.document_id),
    has: (one: GenerationId): boolean => refusals.has(generationKey(one)),
    /** The refused generations that are due, in their current state. Deleted and superseded ones are dropped. */
    async due(log: Pick<EventLog, "heads" | "read">): Promise<WantedGeneration[]> {
      const now = performance.now();
      const tried = [...refusals.values()].filter(({ at }) => at <= now).map(({ one }) => one);
      if (tried.length === 0) return [];
      const heads = await log.heads(tried.map(({ stream }) => stream));
      const due: WantedGeneration[] = [];
      for (const one of tried) {
        const head = heads.get(one.stream);
        const state = head && storedDocument((await readState(log, head, document)).state);
        // position and version belong together: the events up to this version describe the document that is put
        if (state?.live?.generation === one.text.generation)
          due.push({ ...one, vectors: state.vectors, position: head!.position, version: head!.version });
        else refusals.delete(keyOf(one));
      }
      return due;
    },
  };
}
