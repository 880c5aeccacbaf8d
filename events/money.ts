import { z } from "zod";

/*
 * Money is a decimal text in US dollars with at most 12 digits after the point, and is added up as a whole number of
 * picodollars (10⁻¹² $): a price of 0.000001 $ per million tokens is exactly 1 of them per token, so nothing is rounded.
 */

const DECIMALS = 12;
const PICO = 10n ** BigInt(DECIMALS);

export const Money = z.string().regex(/^\d{1,24}(\.\d{1,12})?$/);
export type Money = z.infer<typeof Money>;

const ZERO = "0".charCodeAt(0);
const POINT = ".".charCodeAt(0);
/** Texts of this length with a point have at most 15 digits, which a number represents exactly. */
const MAX_SHORT_TEXT = 16;
const POWERS = Array.from({ length: DECIMALS + 1 }, (_, n) => Number(`1e${n}`));

/** The picodollars of a short text; undefined if a number cannot represent them exactly. */
function toNumber(money: Money): number | undefined {
  let units = 0;
  let point = money.length - 1;
  for (let n = 0; n < money.length; n++) {
    const code = money.charCodeAt(n);
    if (code === POINT) point = n;
    else units = units * 10 + code - ZERO;
  }
  const amount = units * POWERS[DECIMALS - (money.length - 1 - point)]!;
  return amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
}

/** The picodollars of a decimal text. Called several times for every turn, so it builds no texts for amounts of up to 9,007 $. */
export function toPicodollars(money: Money): bigint {
  if (money === "0") return 0n;
  const amount = money.length <= MAX_SHORT_TEXT ? toNumber(money) : undefined;
  if (amount !== undefined) return BigInt(amount);
  const point = money.indexOf(".");
  if (point === -1) return BigInt(money) * PICO;
  return BigInt(money.slice(0, point) + money.slice(point + 1).padEnd(DECIMALS, "0"));
}

/** The shortest decimal text: `0.5`, `12`. */
export function fromPicodollars(amount: bigint): Money {
  if (amount === 0n) return "0";
  const digits = String(amount).padStart(DECIMALS + 1, "0");
  const point = digits.length - DECIMALS;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end--;
  const whole = digits.slice(0, point);
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`;
}

export const addMoney = (a: Money, b: Money): Money => fromPicodollars(toPicodollars(a) + toPicodollars(b));
