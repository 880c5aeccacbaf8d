import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { resumeAfterCommit } from "./resumeAfterCommit.ts";

async function attendTo(stream: string, events: { type: string; data: object }[], status: string | null = "ending") {
  const attended: string[] = [];
  const attend = resumeAfterCommit({
    log: { heads: async (streams) => new Map(streams.map((name) => [name, { stream: name, status } as StreamHead])) },
    attend: async (head) => void attended.push(head.stream),
    onError: (error) => attended.push(String(error)),
  });
  attend({ command: { stream }, events, version: 1 } as never);
  await new Promise(setImmediate);
  return attended;
}

test.each([
  ["the end of a run that others wait for", "run-r", { type: "RunCompleted", data: { settles: true } }, ["run-r"]],
  ["the end of a turn that a run asked for", "thread-t", { type: "TurnFailed", data: { awaited_by: "r" } }, ["run-r"]],
  ["the end of a run that nobody waits for", "run-r", { type: "RunCompleted", data: {} }, []],
  ["the end of another turn", "thread-t", { type: "TurnCompleted", data: {} }, []],
] as const)("%s is attended to by the process that committed it", async (_, stream, event, expected) => {
  expect(await attendTo(stream, [event])).toEqual(expected);
});

test("a stream without open work is left alone", async () => {
  expect(await attendTo("run-r", [{ type: "RunCompleted", data: { settles: true } }], null)).toEqual([]);
});

test("a run that was settled with its end is left alone", async () => {
  const end = { type: "RunCompleted", data: { settles: true } };
  expect(await attendTo("run-r", [end, { type: "RunSettled", data: {} }])).toEqual([]);
});
