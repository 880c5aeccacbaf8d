import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument } from "../../deciders/documentState.ts";
import { readState } from "../../states.ts";
import type { IndexedGeneration, IndexRegistry, PassageIndex, PassageRemoval } from "../passageIndex.ts";

const BATCH_SIZE = 500;

export interface CompareDeps {
  index: Pick<PassageIndex, "generations">;
  registry: Pick<IndexRegistry, "listSearchable">;
  log: Pick<EventLog, "heads" | "read">;
}

export interface Difference {
  /** Passages in the index that no document needs. */
  surplus: PassageRemoval[];
  /** The number of passages that search may show and the index lacks. */
  missing: number;
}

const generationKey = ({ document_id, generation }: Pick<IndexedGeneration, "document_id" | "generation">): string =>
  `${document_id}/${generation}`;

/**
 * Compares the generations in the index with those that search may show, without those of some documents. Undefined if either
 * is unknown now. Surplus is checked against the log, so nothing is removed because the read model is behind.
 */
export async function compareIndex(
  deps: CompareDeps,
  index: string,
  except: string[],
): Promise<Difference | undefined> {
  const indexed = await deps.index.generations(index);
  const searchable = indexed && (await deps.registry.listSearchable());
  if (!indexed || !searchable) return undefined;
  const counts = new Map(indexed.map((one) => [generationKey(one), one.passages]));
  const expected = new Set(searchable.map(generationKey));
  const ignored = new Set(except);
  let missing = 0;
  for (const one of searchable)
    if (!ignored.has(one.document_id)) missing += Math.max(0, one.passages - (counts.get(generationKey(one)) ?? 0));
  const unexpected = indexed.filter((one) => !expected.has(generationKey(one)));
  return { surplus: await findSurplus(deps.log, unexpected), missing };
}

/** The generations that are neither live nor waiting to become live, according to the log. */
async function findSurplus(log: CompareDeps["log"], indexed: IndexedGeneration[]): Promise<PassageRemoval[]> {
  const surplus: PassageRemoval[] = [];
  for (let n = 0; n < indexed.length; n += BATCH_SIZE) {
    const batch = indexed.slice(n, n + BATCH_SIZE);
    const heads = await log.heads([...new Set(batch.map(({ document_id }) => streamName("document", document_id)))]);
    for (const { document_id, generation } of batch) {
      const head = heads.get(streamName("document", document_id));
      const state = head && storedDocument((await readState(log, head, document)).state);
      const awaited = state?.status === "indexing" ? state.text?.generation : undefined;
      if (!state) surplus.push({ document_id, below_generation: null });
      else if (generation !== state.live?.generation && generation !== awaited)
        surplus.push({ document_id, below_generation: null, only_generation: generation });
    }
  }
  return surplus;
}
