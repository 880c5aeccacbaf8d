import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { readRunAnswer, type RunAnswerDeps } from "./runAnswer.ts";
import { RunGone } from "./values.ts";

const completed = { type: "RunCompleted", personal: { result: { json: "7" } } };
const settled = { type: "RunSettled", personal: undefined };

/** Reads the answer of a run with these events. Counts the searches in its history. */
async function read(events: object[]) {
  let searches = 0;
  const log = {
    event: async (_: string, version: number) => events[version - 1],
    readNewest: async () => {
      searches += 1;
      return events.filter((event) => (event as typeof completed).type.startsWith("RunCompleted"));
    },
  };
  const head = { stream: "run-r", organization_id: "o", version: events.length } as StreamHead;
  return { answer: JSON.parse(await readRunAnswer({ log } as unknown as RunAnswerDeps, head)), searches };
}

test("the end of a run is found without a search if it is its last event, or the one before it was settled", async () => {
  const answer = { run_id: "r", status: "completed", result: 7, error: null };
  expect(await read([settled, completed])).toEqual({ answer, searches: 0 });
  expect(await read([completed, settled])).toEqual({ answer, searches: 0 });
  expect(await read([completed])).toEqual({ answer, searches: 0 });
  expect(await read([completed, { type: "StepCompleted" }, settled])).toEqual({ answer, searches: 1 });
});

test("a run whose end was destroyed has no answer", async () => {
  await expect(read([{ ...completed, personal: undefined }, settled])).rejects.toThrow(RunGone);
});
