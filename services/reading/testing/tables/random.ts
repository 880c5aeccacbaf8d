/** Draws that are the same for the same seed. */
export interface Dice {
  /** From 0 to 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(from: number, to: number): number;
  oneOf<T>(list: readonly T[]): T;
  /** True in this share of the draws. */
  chance(share: number): boolean;
}

/** Draws with mulberry32. */
export const createDice = (seed: number): Dice => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    oneOf: (list) => list[Math.floor(next() * list.length)]!,
    chance: (share) => next() < share,
  };
};

const NOUNS =
  "labor paint glass freight storage repair gasket mirror bumper filter cable copper timber panel survey permit insurance software license training travel catering cleaning heating water network server printer paper postage advertising audit legal payroll pension interest fuel rental parking".split(
    " ",
  );
const ADJECTIVES =
  "body rear front annual monthly regional standard heavy light outdoor indoor temporary certified digital manual spare bulk express local foreign domestic secondary primary net gross other deferred".split(
    " ",
  );

/** A name that no other row of the file has. */
export const createNames = (dice: Dice): ((words?: number) => string) => {
  const used = new Set<string>();
  return (words = 2) => {
    for (;;) {
      const parts = [dice.oneOf(ADJECTIVES), ...Array.from({ length: words - 1 }, () => dice.oneOf(NOUNS))];
      const name = parts.join(" ").replace(/^./, (letter) => letter.toUpperCase());
      if (used.has(name)) continue;
      used.add(name);
      return name;
    }
  };
};

/** An amount with thousands separators and decimals. */
export const money = (value: number, decimals = 2): string =>
  value.toFixed(decimals).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
