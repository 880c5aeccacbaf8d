/** The value below which this share (0 to 1) of the samples lies. */
export const percentile = (samples: number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error("no samples");
  return value;
};

export const median = (samples: number[]): number => percentile(samples, 0.5);

/**
 * The median of the ratios of all rounds. Both sides of a ratio are measured within the same seconds, so that a slow phase of the
 * machine, or one disturbed round, does not change it.
 */
export const medianRatio = (ours: number[], theirs: number[]): number =>
  median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));

/** A figure, and its 95 % confidence interval. */
export interface Estimate {
  low: number;
  middle: number;
  high: number;
}

/**
 * The Hodges-Lehmann estimate of the middle of symmetric samples: the median of the means of all pairs. It is nearly as precise as
 * the mean, and robust against a few disturbed samples. The interval is from Wilcoxon's signed ranks.
 */
function estimateMiddle(samples: number[]): Estimate {
  const n = samples.length;
  const means = samples.flatMap((a, k) => samples.slice(k).map((b) => (a + b) / 2)).toSorted((a, b) => a - b);
  const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24);
  const outside = Math.max(0, Math.floor(means.length / 2 - 1.96 * deviation));
  return { low: means[outside]!, middle: median(means), high: means.at(-1 - outside)! };
}

/**
 * The middle of ratios of disturbed measurements, by their logarithms: half as much and twice as much are equally far from 1.
 * The middle of the ratios themselves is above 1 even if both sides are the same.
 */
export function estimateRatio(ratios: number[]): Estimate {
  const { low, middle, high } = estimateMiddle(ratios.map((ratio) => Math.log(ratio)));
  return { low: Math.exp(low), middle: Math.exp(middle), high: Math.exp(high) };
}

/** Rounds to three significant digits, to keep the JSON line readable. */
export const toSignificant = (value: number): number => Number(value.toPrecision(3));
