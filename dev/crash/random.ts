import { createHash } from "node:crypto";

/** A seeded stream of choices: equal parts give equal choices, so that a failing run can be repeated. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number, both ends included. */
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** At most this many of the items. */
  some<T>(items: readonly T[], most: number): T[];
  /** A key, chosen with the probability of its weight. */
  weighted<K extends string>(weights: Record<K, number>): K;
}

/** Splitmix32, started from a hash of the parts. */
export function randomFrom(...parts: (string | number)[]): Random {
  let state = createHash("sha256").update(JSON.stringify(parts)).digest().readUInt32LE(0);
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    int: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)]!,
    some: (items, most) =>
      items
        .map((item) => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .slice(0, most)
        .map(({ item }) => item),
    weighted(weights) {
      const entries = Object.entries<number>(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries.at(-1)!)[0];
    },
  };
}
