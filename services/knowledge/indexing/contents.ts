import { dropOldest } from "#events/dropOldest.ts";

/** Generations that are remembered. A forgotten one is sent again, which changes nothing. */
const MAX_REMEMBERED = 20_000;

interface Entry {
  /** Position of the newest event of the document that the index includes. */
  position: number;
  finished_at: string;
}

export type IndexContents = ReturnType<typeof createIndexContents>;

/** Remembers what this process has put into an index, so that events it already includes cause no second put. */
export function createIndexContents() {
  const entries = new Map<string, Entry>();
  const keyOf = (document_id: string, generation: number): string => `${document_id}/${generation}`;
  return {
    get: (document_id: string, generation: number): Entry | undefined => entries.get(keyOf(document_id, generation)),
    add(document_id: string, generation: number, entry: Entry): void {
      const key = keyOf(document_id, generation);
      entries.delete(key);
      entries.set(key, entry);
      dropOldest(entries, MAX_REMEMBERED);
    },
  };
}
