export interface Sleeper {
  /** Resolves after `ms`, or with true when it is woken. */
  sleep(ms: number): Promise<boolean>;
  /** Ends the sleep, if there is one. */
  wake(): void;
}

/** One sleep at a time, which others can end. */
export function createSleeper(): Sleeper {
  let wake = (): void => {};
  return {
    wake: () => wake(),
    async sleep(ms) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), ms);
      wake = () => resolve(true);
      const isWoken = await promise;
      clearTimeout(timer);
      wake = () => {};
      return isWoken;
    },
  };
}
