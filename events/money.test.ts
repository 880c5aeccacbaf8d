import fc from "fast-check";
import { expect, test } from "vitest";
import { addMoney, fromPicodollars, Money, toPicodollars } from "./money.ts";
import { addUsage, NO_USAGE, type Usage } from "./turnOutput.ts";

const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });

test("money survives its decimal text, and is added up exactly in any order", () => {
  fc.assert(
    fc.property(fc.array(amount), (amounts) => {
      const texts = amounts.map(fromPicodollars);
      for (const [n, text] of texts.entries()) {
        expect(Money.safeParse(text).success).toBe(true);
        expect(toPicodollars(text)).toBe(amounts[n]);
      }
      const sum = fromPicodollars(amounts.reduce((left, right) => left + right, 0n));
      expect(texts.reduce(addMoney, "0")).toBe(sum);
      expect(texts.toReversed().reduce(addMoney, "0")).toBe(sum);
    }),
  );
  // binary floats give 0.30000000000000004
  expect(addMoney("0.1", "0.2")).toBe("0.3");
  expect(addMoney("0.000000000001", "999999")).toBe("999999.000000000001");
});

/** Computes with the whole part and the decimals, as one would by hand. */
function picodollarsByHand(money: string): bigint {
  const [whole = "", decimals = ""] = money.split(".");
  return BigInt(whole) * 10n ** 12n + BigInt(decimals.padEnd(12, "0"));
}

test("every decimal text has its picodollars, and the shortest text of them is the same amount", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{1,24}([.][0-9]{1,12})?$/), (text) => {
      const amount = picodollarsByHand(text);
      expect(toPicodollars(text)).toBe(amount);
      const shortest = text
        .replace(/^0+(?=[0-9])/, "")
        .replace(/([.][0-9]*?)0+$/, "$1")
        .replace(/[.]$/, "");
      expect(fromPicodollars(amount)).toBe(shortest);
    }),
  );
  const table: [text: string, amount: bigint][] = [
    ["0", 0n],
    ["12", 12_000_000_000_000n],
    ["0.5", 500_000_000_000n],
    ["0.000000000001", 1n],
    ["1.000000000001", 1_000_000_000_001n],
    ["100.01", 100_010_000_000_000n],
    ["9007.19925474099", 9_007_199_254_740_990n],
    ["9007.199254740993", 9_007_199_254_740_993n],
    ["9999.99999999999", 9_999_999_999_999_990n],
    ["9007199254740993", 9_007_199_254_740_993_000_000_000_000n],
  ];
  for (const [text, amount] of table) {
    expect(toPicodollars(text)).toBe(amount);
    expect(fromPicodollars(amount)).toBe(text);
  }
});

const tokens = (prompt_tokens: number, cost?: string): Usage => ({
  ...NO_USAGE,
  prompt_tokens,
  ...(cost !== undefined && { cost }),
});

test("usage has a cost only if each counted part has one", () => {
  expect(addUsage(tokens(1, "0.1"), tokens(2, "0.2"))).toEqual(tokens(3, "0.3"));
  expect(addUsage(tokens(1, "0.1"), tokens(2))).toEqual(tokens(3));
  expect(addUsage(tokens(1), tokens(2, "0.2"))).toEqual(tokens(3));
  expect(addUsage(NO_USAGE, tokens(2, "0"))).toEqual(tokens(2, "0"));
  expect(addUsage(tokens(1, "0.1"), NO_USAGE)).toEqual(tokens(1, "0.1"));
  // an unknown part stays unknown, whatever follows
  expect([tokens(1), NO_USAGE, tokens(2, "0.2")].reduce((sum, part) => addUsage(sum, part), NO_USAGE)).toEqual(
    tokens(3),
  );
});
