import { setImmediate } from "node:timers/promises";

/** One piece of work computes for so long before the event loop gets its turn. */
const SLICE_MS = 5;

/** Cuts long work into slices: `pause` lets other callbacks run once the slice is used up, and costs nothing before. */
export function createSlices(): { pause(): Promise<void> | undefined } {
  let start = performance.now();
  const nextSlice = async (): Promise<void> => {
    await setImmediate();
    start = performance.now();
  };
  return { pause: () => (performance.now() - start < SLICE_MS ? undefined : nextSlice()) };
}

/** Converts values one by one, in slices. */
export async function mapInSlices<T, R>(values: readonly T[], convert: (value: T) => R): Promise<R[]> {
  const slices = createSlices();
  const converted: R[] = [];
  for (const value of values) {
    converted.push(convert(value));
    const pause = slices.pause();
    if (pause) await pause;
  }
  return converted;
}
