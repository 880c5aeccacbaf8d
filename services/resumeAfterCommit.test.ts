import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { resumeAfterCommit } from "./resumeAfterCommit.ts";

async function listResumed(stream: string, events: { type: string; data: object }[], status: string | null = "ending") {
  const resumed: string[] = [];
  const afterCommit = resumeAfterCommit({
    log: { heads: async (streams) => new Map(streams.map((name) => [name, { stream: name, status } as StreamHead])) },
    resumeWork: async (head) => void resumed.push(head.stream),
    onError: (error) => resumed.push(String(error)),
  });
  afterCommit({ command: { stream }, events, version: 1 } as never);
  await new Promise(setImmediate);
  return resumed;
}

test.each([
  ["the end of a run that others wait for", "run-r", { type: "RunCompleted", data: { settles: true } }, ["run-r"]],
  ["the end of a turn that a run asked for", "thread-t", { type: "TurnFailed", data: { awaited_by: "r" } }, ["run-r"]],
  ["the end of a run that nobody waits for", "run-r", { type: "RunCompleted", data: {} }, []],
  ["the end of another turn", "thread-t", { type: "TurnCompleted", data: {} }, []],
] as const)("%s is resumed by the process that committed it", async (_, stream, event, expected) => {
  expect(await listResumed(stream, [event])).toEqual(expected);
});

test("a stream without open work is left alone", async () => {
  expect(await listResumed("run-r", [{ type: "RunCompleted", data: { settles: true } }], null)).toEqual([]);
});

test("a run that was settled with its end is left alone", async () => {
  const end = { type: "RunCompleted", data: { settles: true } };
  expect(await listResumed("run-r", [end, { type: "RunSettled", data: {} }])).toEqual([]);
});
