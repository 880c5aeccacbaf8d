/** Generations that are remembered; one that is not is put once more, which changes nothing. */
const REMEMBERED = 20_000;

interface Known {
  /** Position of the newest event of the document that it takes account of. */
  position: number;
  finished_at: string;
}

export type Contents = ReturnType<typeof createContents>;

/** What this process has put into an index, so that a change which a later reading covered is not put again. */
export function createContents() {
  const known = new Map<string, Known>();
  const keyOf = (document_id: string, generation: number): string => `${document_id}/${generation}`;
  return {
    get: (document_id: string, generation: number): Known | undefined => known.get(keyOf(document_id, generation)),
    add(document_id: string, generation: number, entry: Known): void {
      const key = keyOf(document_id, generation);
      known.delete(key);
      known.set(key, entry);
      if (known.size > REMEMBERED) known.delete(known.keys().next().value!);
    },
  };
}
