import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { listProviders } from "../providers/query.ts";
import { encode, type Db } from "../projection.ts";
import { listPrices } from "./query.ts";

const answering = (rows: object[]): Db => ({ query: async () => rows }) as unknown as Db;
const repeat = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

test("20 prices of each of 10,000 models are read in parts, between which other work runs", async () => {
  const price = { valid_from: "2026-01-01T00:00:00.000Z", input: "1.25", output: "10.5", cached_input: "0.125" };
  const prices = encode(repeat(20, () => price));
  const db = answering(repeat(10_000, (n) => ({ model: encode(`acme/m${n}`), prices })));
  let read: unknown[] = [];
  expect(await longestTurn(async () => (read = await listPrices(db, "o1")))).toBeLessThan(50);
  expect(read).toHaveLength(10_000);
});

test("200 providers with the longest names of 500 models each are read in parts, too", async () => {
  const names = repeat(500, (n) => `é${n}`.padEnd(200, "x"));
  const windows = encode(Object.fromEntries(names.map((name) => [name, 8_000])));
  const row = { name: encode("acme"), base_url: null, models: encode(names), context_windows: windows, model: null };
  let read: unknown[] = [];
  const db = answering(repeat(200, () => row));
  expect(await longestTurn(async () => (read = await listProviders(db, "o1")))).toBeLessThan(50);
  expect(read).toHaveLength(200);
});
