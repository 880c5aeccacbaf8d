/** Runs work with the same key in order of arrival. Different keys do not wait for each other. */
export function createSerializer(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const previous = last.get(key);
    const run = previous ? previous.then(work) : work();
    const settled = run.then(
      () => {},
      () => {},
    );
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return run;
  };
}
