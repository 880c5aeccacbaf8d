import { expect, test } from "vitest";
import { claimStream } from "#events/ids.ts";
import type { Db } from "#projections/projection.ts";
import type { RecentRecords } from "./log.ts";
import { openLogReader } from "./logReader.ts";

/** A database that answers by a function, and records its queries. */
function fakeDb(
  answer: (asked: string[]) => object[],
  recentTime: RecentRecords["recentTime"] = () => undefined,
  recentData: RecentRecords["recentData"] = () => undefined,
) {
  const asked: string[][] = [];
  const db = {
    query: async (_: string, [values]: [string[]]) => {
      asked.push(values);
      return answer(values);
    },
  } as unknown as Db;
  return { asked, reader: openLogReader(db, { recentTime, recentData }) };
}

test("the times of a hundred events requested at once are read in one query", async () => {
  const at = (position: string): Date => new Date(Number(position));
  const { asked, reader } = fakeDb((positions) =>
    positions.filter((one) => one !== "7").map((one) => ({ position: Number(one), recorded_at: at(one) })),
  );
  const times = await Promise.all(Array.from({ length: 100 }, (_, n) => reader.recordedAt(n)));
  expect(asked).toHaveLength(1);
  expect(times.map((time) => time?.getTime())).toEqual(
    Array.from({ length: 100 }, (_, n) => (n === 7 ? undefined : n)),
  );
});

test("the time of an event that this process has just recorded is read without a query", async () => {
  const { asked, reader } = fakeDb(
    () => [],
    (position) => (position === 7 ? new Date(7) : undefined),
  );
  expect([await reader.recordedAt(7), await reader.recordedAt(8)]).toEqual([new Date(7), undefined]);
  expect(asked).toEqual([["8"]]);
});

test("the public fields of an event that this process has just recorded are read without a query", async () => {
  const { asked, reader } = fakeDb(
    () => [{ stream: "run-b", version: 1, data: '{"b":2}' }],
    undefined,
    (place) => (place === "1 run-a" ? '{"a":1}' : undefined),
  );
  expect([await reader.publicData("run-a", 1), await reader.publicData("run-b", 1)]).toEqual([{ a: 1 }, { b: 2 }]);
  expect([reader.recentData("run-a", 1), reader.recentData("run-b", 1)]).toEqual([{ a: 1 }, undefined]);
  expect(asked).toEqual([["run-b"]]);
});

test("the holders of a hundred claims requested at once are read in one query, and each caller gets its own", async () => {
  const { asked, reader } = fakeDb((streams) =>
    streams.map((stream) => ({ stream, state: JSON.stringify(`of ${stream}`) })),
  );
  const claims = Array.from({ length: 100 }, (_, n) => `content:${n}`);
  const holders = await Promise.all(claims.map((claim) => reader.claimHolders([claim])));
  expect(asked).toHaveLength(1);
  for (const [n, claim] of claims.entries()) expect([...holders[n]!]).toEqual([[claim, `of ${claimStream(claim)}`]]);
});

test("the newest positions of a hundred streams, and of the whole log, are read in one query", async () => {
  const { asked, reader } = fakeDb((streams) => streams.map((stream) => ({ stream, position: 1 + stream.length })));
  const streams = Array.from({ length: 100 }, (_, n) => "s".repeat(n + 1));
  const positions = await Promise.all([reader.newestPosition(), ...streams.map(reader.newestPosition)]);
  expect(asked).toHaveLength(1);
  expect(positions).toEqual(Array.from({ length: 101 }, (_, n) => 1 + n));
});
