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

function findLargest(shares: Iterable<Share>, measure: (share: Share) => number): Share {
  let largest: Share | undefined;
  for (const share of shares) if (!largest || measure(share) > measure(largest)) largest = share;
  return largest!;
}

/**
 * Keeps values by key. Beyond a limit it drops the entries that were set or used longest ago, of the owner that has the most, so
 * that one owner does not push out what others have. Without owners, of all.
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

  function dropOne(): void {
    const isTooLarge = total > maxSize;
    const { keys } = findLargest(shares.values(), (share) => (isTooLarge ? share.size : share.keys.size));
    forget(keys.values().next().value!);
  }

  return {
    /** Finds a value, which does not count as a use. */
    find: (key: string): T | undefined => kept.get(key)?.value,
    /** Finds a value, which then is the last of its owner to be dropped. */
    use(key: string): T | undefined {
      const found = kept.get(key);
      if (!found) return undefined;
      const { keys } = shares.get(found.owner)!;
      keys.delete(key);
      keys.add(key);
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
      while (total > maxSize || kept.size > maxEntries) dropOne();
    },
    forget,
  };
}
