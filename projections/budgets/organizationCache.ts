/** Maximum organizations, budgets and sums in each cache of this process, a few hundred bytes each. */
export const MAX_ENTRIES = 100_000;

/** Caches the last value of each organization. If there are too many, all are dropped and read again. */
export function createOrganizationCache<T>(sizeOf: (value: T) => number) {
  const values = new Map<string, T>();
  let entries = 0;
  function forget(organization: string): void {
    const value = values.get(organization);
    if (value !== undefined) entries -= 1 + sizeOf(value);
    values.delete(organization);
  }
  return {
    get: (organization: string) => values.get(organization),
    forget,
    set(organization: string, value: T): void {
      forget(organization);
      const size = 1 + sizeOf(value);
      if (entries + size > MAX_ENTRIES) {
        values.clear();
        entries = 0;
      }
      values.set(organization, value);
      entries += size;
    },
  };
}

/** Loads once for concurrent callers, and logs a failure once. */
export function createSharedLoader<T>(load: (organization: string) => Promise<T>, onError: (error: unknown) => void) {
  const loading = new Map<string, Promise<T>>();
  return {
    running: (organization: string) => loading.get(organization),
    load(organization: string): Promise<T> {
      const running = loading.get(organization);
      if (running) return running;
      const started = load(organization).finally(() => loading.delete(organization));
      loading.set(organization, started);
      started.catch(onError);
      return started;
    },
  };
}
