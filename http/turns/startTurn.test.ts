import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { ApiError } from "../base/errors.ts";
import type { TurnIdentity } from "./previousTurn.ts";
import { startTurn } from "./startTurn.ts";

const organization_id = newId();
const identity: TurnIdentity = { organization_id, id: "c", fingerprint: "f", hasKey: false, thread_id: undefined };

interface StartRecord {
  /** Ids of the commands recorded as unanswered. */
  recorded: string[];
  /** What was sent of the prompt. */
  inputs: object[];
}

const NO_SETTINGS = { instructions: null, max_output_tokens: null };

/** Starts a turn whose command fails with `failure`. */
async function startWith(failure: Error, request: { settings?: object; agent?: object } = {}): Promise<StartRecord> {
  const started: StartRecord = { recorded: [], inputs: [] };
  const admitted = { settle: () => {}, withdraw: () => {}, reached: () => undefined };
  const http = {
    settings: { TURN_SECONDS: 60, ORGANIZATION_MEGABYTES: 1_000, THREAD_MEGABYTES: 1_000 },
    db: { query: async () => [{ bytes: 0 }] },
    stored: async () => ({ bytes: 0, unread: 0 }),
    vault: { createKey: () => "key", put: async () => "blob" },
    budgets: {
      check: async () => undefined,
      reading: () => ({ budgets: [] }),
      note: () => {},
      admit: async () => ({ admitted }),
    },
    rates: { admit: async () => ({ admitted: { headers: {}, withdraw: () => {}, end: () => {} } }) },
    frames: { subscribe: () => () => {} },
    send: (_: unknown, { data }: { data: { input: object } }) => {
      started.inputs.push(data.input);
      return Promise.reject(failure);
    },
    abandonedTurns: { add: async (command_id: string) => void started.recorded.push(command_id) },
  };
  const sent = {
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
    settings: NO_SETTINGS,
    ...request,
  };
  const disconnected = new AbortController().signal;
  await expect(startTurn(http as never, sent as never, turnRequest as never, identity, disconnected)).rejects.toThrow(
    failure.message,
  );
  return started;
}

const busy = new ApiError("thread_busy", "busy");

test("a turn whose start has an unknown outcome is recorded as unanswered, so that a retry without a key may join it", async () => {
  expect((await startWith(new Unavailable("No answer by the deadline"))).recorded).toEqual(["c"]);
});

test("a turn that was refused is not recorded as unanswered", async () => {
  expect((await startWith(busy)).recorded).toEqual([]);
});

test("an agent's prompt is part of the command, unless its settings are long: then they are only measured and written for the blob", async () => {
  const agent = { agent_id: newId(), version: 1 };
  const start = async (text: string) => {
    let written = 0;
    const marked = { toJSON: () => ((written += 1), "marked") };
    const { inputs } = await startWith(busy, { agent, settings: { ...NO_SETTINGS, vars: { text, marked } } });
    return { input: inputs[0], written };
  };
  expect((await start("short")).input).toHaveProperty("prompt");
  const long = await start("x".repeat(2_000_000));
  expect(long.input).toMatchObject({ prompt_blob: "blob" });
  expect(long.written).toBe(2);
});
