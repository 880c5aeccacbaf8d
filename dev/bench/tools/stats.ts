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

/** Rounds to three significant digits, to keep the JSON line readable. */
export const toSignificant = (value: number): number => Number(value.toPrecision(3));
