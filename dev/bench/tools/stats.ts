/** The value that is above this share (0 to 1) of the samples. */
export const percentile = (samples: number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error("no samples");
  return value;
};

export const median = (samples: number[]): number => percentile(samples, 0.5);

/** Rounds to three significant digits, to keep the JSON line readable. */
export const toSignificant = (value: number): number => Number(value.toPrecision(3));
