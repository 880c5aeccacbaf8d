import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { ApiError } from "../base/errors.ts";
import type { TurnIdentity } from "./previousTurn.ts";
import { startTurn } from "./startTurn.ts";

const organization_id = newId();
const identity: TurnIdentity = { organization_id, id: "c", fingerprint: "f", hasKey: false, thread_id: undefined };

/** Starts a turn whose command fails with `failure`. Returns the ids of the commands recorded as unanswered. */
async function startWith(failure: Error): Promise<string[]> {
  const recorded: string[] = [];
  const http = {
    settings: { TURN_SECONDS: 60 },
    budgets: { check: async () => undefined, reading: () => ({ budgets: [] }), note: () => {} },
    rates: { admit: async () => ({ admitted: { headers: {}, withdraw: () => {}, end: () => {} } }) },
    frames: { subscribe: () => () => {} },
    send: () => Promise.reject(failure),
    abandonedTurns: { add: async (command_id: string) => void recorded.push(command_id) },
  };
  const request = {
    caller: { principal: { kind: "key", id: newId() } },
    id: "r",
    headers: {},
    bodyBytes: 10,
    onlyWaits: () => undefined,
  };
  const turnRequest = {
    model: "m",
    streamed: false,
    user: undefined,
    messages: [],
    settings: { instructions: null, max_output_tokens: null },
  };
  const disconnected = new AbortController().signal;
  await expect(
    startTurn(http as never, request as never, turnRequest as never, identity, disconnected),
  ).rejects.toThrow(failure.message);
  return recorded;
}

test("a turn whose start has an unknown outcome is recorded as unanswered, so that a retry without a key may join it", async () => {
  expect(await startWith(new Unavailable("No answer by the deadline"))).toEqual(["c"]);
});

test("a turn that was refused is not recorded as unanswered", async () => {
  expect(await startWith(new ApiError("thread_busy", "busy"))).toEqual([]);
});
