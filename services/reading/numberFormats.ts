const ROMAN: [number, string][] = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"],
];

/** 14 as `xiv`; "" for 0. */
export const romanNumber = (number: number): string => {
  const step = ROMAN.find(([value]) => value <= number);
  return step ? step[1] + romanNumber(number - step[0]) : "";
};

/** 3 as `c`, 28 as `ab`; "" for 0. */
export const letterNumber = (number: number): string =>
  number < 1 ? "" : letterNumber(Math.floor((number - 1) / 26)) + String.fromCharCode(97 + ((number - 1) % 26));
