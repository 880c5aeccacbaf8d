interface Limits {
  /** The sizes of all entries together. An entry that is larger alone is not kept. */
  size: number;
  entries?: number;
}

/** The entries of one owner, the one first that was set or used longest ago. */
interface Share {
  keys: Set<string>;
  size: number;
}

/** An owner with more than this part of a limit makes room for its next entries itself. */
const LARGE = 1 / 4;

/**
 * Keeps values by key. Beyond a limit it drops the entries that were set or used longest ago: those of the owner that sets one if it
 * has a large share, so that one owner does not push out what others have, or else those of all.
 */
export function createSizedCache<T>({ size: maxSize, entries: maxEntries = Infinity }: Limits) {
  const kept = new Map<string, { value: T; size: number; owner: string }>();
  const shares = new Map<string, Share>();
  let total = 0;

  function forget(key: string): void {
    const found = kept.get(key);
    if (!found) return;
    const share = shares.get(found.owner)!;
    share.keys.delete(key);
    share.size -= found.size;
    if (share.keys.size === 0) shares.delete(found.owner);
    total -= found.size;
    kept.delete(key);
  }

  function dropFor({ keys, size }: Share): void {
    const isLarge = total > maxSize ? size > maxSize * LARGE : keys.size > maxEntries * LARGE;
    // never the entry that is being set
    const oldest = (isLarge && keys.size > 1 ? keys : kept).keys();
    forget(oldest.next().value!);
  }

  return {
    /** Finds a value, which does not count as a use. */
    find: (key: string): T | undefined => kept.get(key)?.value,
    /** Finds a value, which then is the last to be dropped. */
    use(key: string): T | undefined {
      const found = kept.get(key);
      if (!found) return undefined;
      const { keys } = shares.get(found.owner)!;
      keys.delete(key);
      keys.add(key);
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },
    set(key: string, value: T, size: number, owner = ""): void {
      forget(key);
      if (size > maxSize) return;
      kept.set(key, { value, size, owner });
      const share = shares.get(owner) ?? { keys: new Set(), size: 0 };
      shares.set(owner, share);
      share.keys.add(key);
      share.size += size;
      total += size;
      while (total > maxSize || kept.size > maxEntries) dropFor(share);
    },
    forget,
  };
}
