/** The result of `keepInFlight`. */
export interface Load {
  perSecond: number;
  /** Milliseconds of each run, from its start until the bench received its end. */
  ms: number[];
}

/** Keeps this many runs in flight until the time is over. Waits for the runs that have started by then and counts them. */
export const keepInFlight = async (run: () => Promise<unknown>, inFlight: number, seconds: number): Promise<Load> => {
  const ms: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1_000;
  const lane = async (): Promise<void> => {
    for (let runStart = start; runStart < end; runStart = performance.now()) {
      await run();
      ms.push(performance.now() - runStart);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { perSecond: ms.length / ((performance.now() - start) / 1_000), ms };
};
