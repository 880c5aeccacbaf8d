import { streamOf } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { stored } from "../../deciders/documentState.ts";
import { stateOf } from "../../states.ts";
import type { Held, IndexPlace, PassageIndex, Superseded } from "../passageIndex.ts";

const AT_ONCE = 500;

export interface CompareDeps {
  index: Pick<PassageIndex, "generations">;
  place: Pick<IndexPlace, "shownGenerations">;
  log: Pick<EventLog, "heads" | "read">;
}

export interface Difference {
  /** What is in the index and belongs to no document as it stands. */
  surplus: Superseded[];
  /** Passages that search may show and the index lacks. */
  missing: number;
}

const keyOf = ({ document_id, generation }: Pick<Held, "document_id" | "generation">): string =>
  `${document_id}/${generation}`;

/**
 * Holds each generation in the index against what search may show, but those of some documents. Undefined where neither can
 * be told at this moment. What seems too much is looked up in the log, so a read model that lacks something loses nothing here.
 */
export async function compare(deps: CompareDeps, index: string, except: string[]): Promise<Difference | undefined> {
  const held = await deps.index.generations(index);
  const shown = held && (await deps.place.shownGenerations());
  if (!held || !shown) return undefined;
  const there = new Map(held.map((one) => [keyOf(one), one.passages]));
  const wanted = new Set(shown.map(keyOf));
  const leftOut = new Set(except);
  let missing = 0;
  for (const one of shown)
    if (!leftOut.has(one.document_id)) missing += Math.max(0, one.passages - (there.get(keyOf(one)) ?? 0));
  const unexpected = held.filter((one) => !wanted.has(keyOf(one)));
  return { surplus: await unwanted(deps.log, unexpected), missing };
}

/** Those that are neither live nor wait to be, as the log has it. */
async function unwanted(log: CompareDeps["log"], held: Held[]): Promise<Superseded[]> {
  const surplus: Superseded[] = [];
  for (let n = 0; n < held.length; n += AT_ONCE) {
    const some = held.slice(n, n + AT_ONCE);
    const heads = await log.heads([...new Set(some.map(({ document_id }) => streamOf("document", document_id)))]);
    for (const { document_id, generation } of some) {
      const head = heads.get(streamOf("document", document_id));
      const state = head && stored((await stateOf(log, head, document)).state);
      const awaited = state?.status === "indexing" ? state.text?.generation : undefined;
      if (!state) surplus.push({ document_id, below_generation: null });
      else if (generation !== state.live?.generation && generation !== awaited)
        surplus.push({ document_id, below_generation: null, only_generation: generation });
    }
  }
  return surplus;
}
