import { z } from "zod";

/*
 * Money is a decimal text in US dollars with at most 12 digits after the point, and is added up as a whole number of
 * picodollars (10⁻¹² $): a price of 0.000001 $ per million tokens is exactly 1 of them per token, so nothing is rounded.
 */

const DECIMALS = 12;
const PICO = 10n ** BigInt(DECIMALS);

export const Money = z.string().regex(/^\d{1,24}(\.\d{1,12})?$/);
export type Money = z.infer<typeof Money>;

/** The picodollars of a decimal text. */
export function toPicodollars(money: Money): bigint {
  const [whole = "0", decimals = ""] = money.split(".");
  return BigInt(whole) * PICO + BigInt(decimals.padEnd(DECIMALS, "0"));
}

/** The shortest decimal text: `0.5`, `12`. */
export function fromPicodollars(amount: bigint): Money {
  const decimals = String(amount % PICO)
    .padStart(DECIMALS, "0")
    .replace(/0+$/, "");
  return `${amount / PICO}${decimals && `.${decimals}`}`;
}

export const addMoney = (a: Money, b: Money): Money => fromPicodollars(toPicodollars(a) + toPicodollars(b));
