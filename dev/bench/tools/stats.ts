/** The value that is above this share (0 to 1) of the samples. */
export const percentile = (samples: number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error("no samples");
  return value;
};

export const median = (samples: number[]): number => percentile(samples, 0.5);

/**
 * The median of the ratios of each round. Both sides of a ratio were measured within the same seconds, so that a slow phase of
 * the machine, or one disturbed round, does not change it.
 */
export const medianRatio = (ours: number[], theirs: number[]): number =>
  median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));

/** A figure, and the interval that has the true one in 95 of 100 measurements. */
export interface Estimate {
  low: number;
  middle: number;
  high: number;
}

/**
 * The middle of samples that are alike on both sides of it, from the means of all their pairs (Hodges and Lehmann): nearly as
 * precise as the mean, and a few disturbed samples hardly move it. The interval is that of Wilcoxon's signed ranks.
 */
export function estimateMiddle(samples: number[]): Estimate {
  const n = samples.length;
  const means = samples.flatMap((a, k) => samples.slice(k).map((b) => (a + b) / 2)).toSorted((a, b) => a - b);
  const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24);
  const outside = Math.max(0, Math.floor(means.length / 2 - 1.96 * deviation));
  return { low: means[outside]!, middle: median(means), high: means.at(-1 - outside)! };
}

/** Rounds to three significant digits, to keep the JSON line readable. */
export const toSignificant = (value: number): number => Number(value.toPrecision(3));
