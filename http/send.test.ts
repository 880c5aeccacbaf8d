import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DeleteKey } from "#events/key.ts";
import type { Answer, Command } from "#events/envelope.ts";
import { createFreshRead, createSend, type Sending } from "./send.ts";

const sending: Sending<{ key_id: string }> = {
  stream: "key-1",
  data: { key_id: "1" },
  organization_id: "o1",
  principal: "person:p1",
  request_id: "r1",
};
const busy: Answer = {
  position: 0,
  repeated: false,
  rejection: { code: "thread_busy", message: "Busy.", retryable: true },
};
const done: Answer = { position: 7, repeated: false };

/** A bus that gives these answers, the last one for ever, and projections that pass or do not. */
function rooms(answers: Answer[], passes = true) {
  const sent: Command[] = [];
  const waited: unknown[] = [];
  const warnings: string[] = [];
  const deps = {
    httpId: "h1",
    logger: pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) }),
    db: { query: async () => [{ position: 9 }] as never[] },
    sender: {
      send: async (command: Command) => {
        sent.push(command);
        return answers[Math.min(sent.length, answers.length) - 1]!;
      },
    },
    passed: async (...asked: unknown[]) => {
      waited.push(asked);
      return passes;
    },
  };
  return { send: createSend(deps), freshRead: createFreshRead(deps), sent, waited, warnings };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("sending a command", () => {
  test("fills in the envelope and waits for the projections that the caller reads", async () => {
    const { send, sent, waited } = rooms([done]);
    expect(await send(DeleteKey, { ...sending, waitFor: ["keys"] })).toEqual({ ...done, followed: true });
    expect(sent[0]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      type: "DeleteKey",
      stream: "key-1",
      http: "h1",
      data: { key_id: "1" },
    });
    expect(Date.parse(sent[0]!.deadline) - Date.parse(sent[0]!.at)).toBe(15_000);
    expect(waited).toEqual([[["keys"], 7, 5_000]]);
  });

  test("says so when they do not follow in time: the answer may hold what cannot be had again", async () => {
    const { send, warnings } = rooms([done], false);
    expect(await send(DeleteKey, { ...sending, waitFor: ["keys"] })).toEqual({ ...done, followed: false });
    expect(warnings).toHaveLength(1);
  });

  test("answers 503 instead where only they can keep what the answer promises", async () => {
    const { send, warnings } = rooms([done], false);
    const sent = send(DeleteKey, { ...sending, waitFor: ["keys"], mustFollow: true });
    await expect(sent).rejects.toMatchObject({ status: 503, errorCode: "unavailable" });
    expect(warnings).toHaveLength(1);
  });

  test("throws a rejection with its status", async () => {
    const { send, sent } = rooms([
      { position: 0, repeated: false, rejection: { code: "key_not_found", message: "No.", param: "id" } },
    ]);
    await expect(send(DeleteKey, sending)).rejects.toMatchObject({
      status: 404,
      errorCode: "key_not_found",
      message: "No.",
      param: "id",
    });
    expect(sent).toHaveLength(1);
  });

  test("tries again under the same id while the thread is busy", async () => {
    const { send, sent } = rooms([busy, busy, done]);
    const sentNow = send(DeleteKey, sending);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await sentNow).toEqual({ ...done, followed: true });
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  });

  test("sends one that could not be handled once only", async () => {
    const { send, sent } = rooms([
      { position: 0, repeated: false, rejection: { code: "internal", message: "No.", retryable: true } },
    ]);
    await expect(send(DeleteKey, sending)).rejects.toMatchObject({ status: 500 });
    expect(sent).toHaveLength(1);
  });

  test("gives up after 20 s with a 409", async () => {
    const { send } = rooms([busy]);
    const given = expect(send(DeleteKey, sending)).rejects.toMatchObject({ status: 409, errorCode: "thread_busy" });
    await vi.advanceTimersByTimeAsync(20_000);
    await given;
  });

  test("does not wait for a client that is gone", async () => {
    const { send, sent } = rooms([busy]);
    await expect(send(DeleteKey, { ...sending, signal: AbortSignal.abort() })).rejects.toMatchObject({ status: 409 });
    expect(sent).toHaveLength(1);
  });
});

describe("a fresh read", () => {
  test("waits for all of a stream, or of the log, so far", async () => {
    const { freshRead, waited } = rooms([done]);
    await freshRead(["turns"], "thread-1");
    await freshRead(["keys"]);
    expect(waited).toEqual([
      [["turns"], 9, 5_000],
      [["keys"], 9, 5_000],
    ]);
  });

  test("is refused with 503 when that is not to be had", async () => {
    const { freshRead } = rooms([done], false);
    await expect(freshRead(["turns"], "thread-1")).rejects.toMatchObject({ status: 503, errorCode: "unavailable" });
  });
});
