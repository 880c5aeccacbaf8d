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

/** Programs show larger numbers as decimals. */
const MAX_ROMAN = 3_999;
/** Nobody counts so far by letters; a damaged file may. */
const MAX_LETTERS = 9_999;

const roman = (number: number): string => {
  const step = ROMAN.find(([value]) => value <= number);
  return step ? step[1] + roman(number - step[0]) : "";
};

const letters = (number: number): string =>
  number < 1 ? "" : letters(Math.floor((number - 1) / 26)) + String.fromCharCode(97 + ((number - 1) % 26));

/** 14 as `xiv`; decimal if it is below 1 or too large. */
export const romanNumber = (number: number): string =>
  number >= 1 && number <= MAX_ROMAN ? roman(number) : String(number);

/** 3 as `c`, 28 as `ab`; decimal if it is below 1 or too large. */
export const letterNumber = (number: number): string =>
  number >= 1 && number <= MAX_LETTERS ? letters(number) : String(number);
