/** What came of starting runs one after another, so many in flight, for a while. */
export interface Load {
  perSecond: number;
  /** Milliseconds of each run, from its start until its end was heard. */
  ms: number[];
}

/** Keeps so many runs in flight for so long; those that have begun by then are waited for and count. */
export const keepInFlight = async (run: () => Promise<unknown>, inFlight: number, seconds: number): Promise<Load> => {
  const ms: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1_000;
  const lane = async (): Promise<void> => {
    for (let began = start; began < end; began = performance.now()) {
      await run();
      ms.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { perSecond: ms.length / ((performance.now() - start) / 1_000), ms };
};
