import { expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";
import { readNewestTurn, readTurnBounds } from "./turnEvents.ts";

type Entry = [type: string, turn_id?: string];

/** A log of one thread that notes the versions that were read. */
function openThread(...entries: Entry[]) {
  const events = entries.map(([type, turn_id], n) => ({ type, version: n + 1, data: { turn_id } }) as RecordedEvent);
  const versions = new Set<number>();
  const note = (found: RecordedEvent[]) => {
    for (const { version } of found) versions.add(version);
    return found;
  };
  const log: Pick<EventLog, "read" | "readNewest"> = {
    read: async (_stream, from = 1) => note(events.filter(({ version }) => version >= from)),
    readNewest: async (_stream, { before, types, limit }) =>
      note(events.filter(({ type, version }) => version < before && types.includes(type)).slice(-limit)),
  };
  return { log, versions };
}
const whole = (turn_id: string): Entry[] => [
  ["TurnStarted", turn_id],
  ["RoundRequested", turn_id],
  ["TurnCompleted", turn_id],
];
const typesOf = (events: RecordedEvent[]) => events.map(({ type }) => type);

test("the newest turn is read without the turns before it", async () => {
  const { log, versions } = openThread(...whole("a"), ...whole("b"), ["TurnStarted", "c"], ["RoundRequested", "c"]);
  expect(typesOf(await readNewestTurn(log, "thread"))).toEqual(["TurnStarted", "RoundRequested"]);
  expect([...versions]).toEqual([7, 8]);
  expect(await readNewestTurn(openThread().log, "thread")).toEqual([]);
});

test("the beginning and the end of one turn are found among hundreds of others, and read until its beginning", async () => {
  const others = (from: number) => Array.from({ length: 150 }, (_, n) => whole(`t${from + n}`)).flat();
  const { log, versions } = openThread(...others(0), ...whole("a"), ...others(1_000), ["TurnDeleted", "a"]);
  expect(typesOf(await readTurnBounds(log, "thread", "a"))).toEqual(["TurnStarted", "TurnCompleted", "TurnDeleted"]);
  expect(versions.has(1)).toBe(false);
  expect(await readTurnBounds(log, "thread", "unknown")).toEqual([]);
});

test("of several turns, the newest is found with one search", async () => {
  const { log } = openThread(...whole("x"), ...whole("a"), ...whole("b"), ["TurnDeleted", "a"], ...whole("y"));
  const found = await readTurnBounds(log, "thread", "c", "b", "a");
  expect(found.map(({ version }) => version)).toEqual([7, 9, 10]);
  const older = await readTurnBounds(log, "thread", "c", "a");
  expect(older.map(({ version }) => version)).toEqual([4, 6, 10]);
});

test("a turn that was refused and began again has begun, and a deleted thread ends it", async () => {
  const refused: Entry[] = [
    ["TurnStarted", "a"],
    ["TurnRefused", "a"],
    ["TurnStarted", "a"],
  ];
  expect(typesOf(await readTurnBounds(openThread(...refused).log, "thread", "a"))).toEqual(["TurnStarted"]);
  const deleted = openThread(...refused, ["ThreadDeleted"]).log;
  expect(typesOf(await readTurnBounds(deleted, "thread", "a"))).toEqual(["TurnStarted", "ThreadDeleted"]);
  expect(typesOf(await readTurnBounds(deleted, "thread", "b"))).toEqual(["ThreadDeleted"]);
});
