interface Run {
  /** Whether it has begun. A run covers everything done before it began. */
  hasBegun: boolean;
  done: Promise<void>;
}

/** Does work that covers everything done before it begins. It says when by calling `begin`. */
type Work = (begin: () => void) => Promise<void>;

/**
 * Runs work for each key, one run after the other. Calls share a run that has not begun, because many of them come at once: uploads store
 * their blobs in one organization's folder.
 */
export function createSharedRuns(): (key: string, work: Work) => Promise<void> {
  const newestRuns = new Map<string, Run>();
  return (key, work) => {
    const newest = newestRuns.get(key);
    if (newest && !newest.hasBegun) return newest.done;
    const own: Run = { hasBegun: false, done: newest ? newest.done.catch(() => {}) : Promise.resolve() };
    newestRuns.set(key, own);
    own.done = own.done
      .then(() => work(() => void (own.hasBegun = true)))
      .finally(() => {
        if (newestRuns.get(key) === own) newestRuns.delete(key);
      });
    return own.done;
  };
}
