interface Limits {
  /** The sizes of all entries together. An entry that is larger alone is not kept. */
  size: number;
  entries?: number;
}

/** Keeps values by key. Beyond a limit it drops the entries that were set or used longest ago. */
export function createSizedCache<T>({ size: maxSize, entries: maxEntries = Infinity }: Limits) {
  const kept = new Map<string, { value: T; size: number }>();
  let total = 0;

  function forget(key: string): void {
    total -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  }

  return {
    /** Finds a value, which does not count as a use. */
    find: (key: string): T | undefined => kept.get(key)?.value,
    /** Finds a value, which then is the last to be dropped. */
    use(key: string): T | undefined {
      const found = kept.get(key);
      if (!found) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },
    set(key: string, value: T, size: number): void {
      forget(key);
      if (size > maxSize) return;
      kept.set(key, { value, size });
      total += size;
      while (total > maxSize || kept.size > maxEntries) forget(kept.keys().next().value!);
    },
    forget,
  };
}
