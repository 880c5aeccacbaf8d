/** The value below which a share (0 to 1) of the samples lies. */
export const percentile = (samples: number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error("no samples");
  return value;
};

export const median = (samples: number[]): number => percentile(samples, 0.5);

/** To three significant digits, so that the JSON line stays readable. */
export const rounded = (value: number): number => Number(value.toPrecision(3));
