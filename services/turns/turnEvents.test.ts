import { expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";
import { readTurnEvents } from "./turnEvents.ts";

/** A thread whose pages have three events. `held`: the pages that were read. */
function stage(...events: [type: string, turn_id?: string][]) {
  const all = events.map(([type, turn_id], n) => ({ type, version: n + 1, data: { turn_id } }) as RecordedEvent);
  const pages: number[][] = [];
  const log: Pick<EventLog, "readNewest"> = {
    async readNewest(_, { before }) {
      const page = all.filter(({ version }) => version < before).slice(-3);
      pages.push(page.map(({ version }) => version));
      return page;
    },
  };
  const read = async (turn_id: string) =>
    (await readTurnEvents(log, "thread-1", turn_id)).map(({ version }) => version);
  return { read, pages };
}
const turn = (id: string): [string, string][] => [
  ["TurnStarted", id],
  ["RoundRequested", id],
  ["ToolFinished", id],
  ["TurnCompleted", id],
];

test("the events of a turn are read from the end of the thread to its start, and no further", async () => {
  const { read, pages } = stage(...turn("a"), ...turn("b"), ...turn("c"));
  expect(await read("b")).toEqual([5, 6, 7, 8]);
  expect(pages).toEqual([
    [10, 11, 12],
    [7, 8, 9],
    [4, 5, 6],
  ]);
});

test("the deletion of a turn and of its thread belong to it", async () => {
  const { read } = stage(...turn("a"), ...turn("b"), ["TurnDeleted", "a"], ["ThreadDeleted"]);
  expect(await read("a")).toEqual([1, 2, 3, 4, 9, 10]);
});

test("a turn that never started has none", async () => {
  const { read } = stage(...turn("a"), ["ThreadDeleted"]);
  expect(await read("b")).toEqual([]);
  expect(await stage().read("b")).toEqual([]);
});
