export type Lock = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs one piece of work after the other. */
export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  };
}
