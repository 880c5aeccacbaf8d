import Fastify, { type FastifyReply } from "fastify";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DeleteKey } from "#events/key.ts";
import type { CommandResult, Command } from "#events/envelope.ts";
import { trackRequestTime } from "./requestTime.ts";
import { createWaitUntilCurrent, createSend, type CommandRequest } from "./send.ts";

const request: CommandRequest<{ key_id: string }> = {
  stream: "key-1",
  data: { key_id: "1" },
  organization_id: "o1",
  principal: "person:p1",
  request_id: "r1",
};
const busy: CommandResult = {
  position: 0,
  repeated: false,
  rejection: { code: "thread_busy", message: "Busy.", retryable: true },
};
const done: CommandResult = { position: 7, repeated: false };

/** A fake bus that returns `results` in order and repeats the last one, and projections that follow or lag. */
function harness(results: CommandResult[], follow = true, takes_ms = 0) {
  const sent: Command[] = [];
  const waited: unknown[] = [];
  const warnings: string[] = [];
  const deps = {
    httpId: "h1",
    logger: pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) }),
    log: { newestPosition: async () => 9 } as never,
    sender: {
      send: async (command: Command) => {
        sent.push(command);
        vi.advanceTimersByTime(takes_ms);
        return results[Math.min(sent.length, results.length) - 1]!;
      },
    },
    waitForProjections: async (...args: unknown[]) => {
      waited.push(args);
      return follow;
    },
  };
  return { send: createSend(deps), waitUntilCurrent: createWaitUntilCurrent(deps), sent, waited, warnings };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("sending a command", () => {
  test("fills in the envelope and waits for the projections that the caller reads", async () => {
    const { send, sent, waited } = harness([done]);
    expect(await send(DeleteKey, { ...request, waitFor: ["keys"] })).toEqual({ ...done, projected: true });
    expect(sent[0]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      type: "DeleteKey",
      stream: "key-1",
      http: "h1",
      data: { key_id: "1" },
    });
    expect(Date.parse(sent[0]!.deadline) - Date.parse(sent[0]!.at)).toBe(15_000);
    expect(waited).toEqual([[["keys"], 7, 4_500, 2_000]]);
  });

  test("gives projections the time that the command left of 4.5 s, but at least half a second, so that a 503 comes within 5 s", async () => {
    const quick = harness([done], true, 1_500);
    await quick.send(DeleteKey, { ...request, waitFor: ["keys"] });
    expect(quick.waited).toEqual([[["keys"], 7, 3_000, 2_000]]);
    const slow = harness([done], true, 9_000);
    await slow.send(DeleteKey, { ...request, waitFor: ["keys"] });
    expect(slow.waited).toEqual([[["keys"], 7, 500, 2_000]]);
  });

  test("counts the time that the request has already taken, as a fresh read does", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { send, waitUntilCurrent, sent, waited } = harness([done]);
    const app = Fastify();
    trackRequestTime(app);
    app.addHook("onRequest", async (_request, reply: FastifyReply) => {
      Object.defineProperty(reply, "elapsedTime", { value: 2_000 });
    });
    app.get("/", async () => {
      await send(DeleteKey, { ...request, waitFor: ["keys"] });
      await waitUntilCurrent(["turns"]);
      return {};
    });
    expect((await app.inject("/")).statusCode).toBe(200);
    expect(sent[0]).toMatchObject({ waited_ms: 2_000 });
    expect(waited).toEqual([
      [["keys"], 7, 2_500, 2_000],
      [["turns"], 9, 2_500, undefined],
    ]);
  });

  test("of an old request counts the commands and the waits for projections before it, and nothing else", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { send, sent } = harness([done], true, 1_000);
    const app = Fastify();
    trackRequestTime(app);
    app.addHook("onRequest", async (_request, reply: FastifyReply) => {
      Object.defineProperty(reply, "elapsedTime", { value: 6_000 });
    });
    app.post("/", async () => {
      for (let n = 0; n < 3; n++) {
        await send(DeleteKey, { ...request, waitFor: ["keys"] });
        vi.advanceTimersByTime(5_000);
      }
      return {};
    });
    expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(200);
    expect(sent.map(({ waited_ms }) => waited_ms)).toEqual([0, 1_000, 2_000]);
  });

  test("reports projections that lag, and still returns the receipt", async () => {
    const { send, warnings } = harness([done], false);
    expect(await send(DeleteKey, { ...request, waitFor: ["keys"] })).toEqual({ ...done, projected: false });
    expect(warnings).toHaveLength(1);
  });

  test("answers 503 for lagging projections when the request requires them", async () => {
    const { send, warnings } = harness([done], false);
    const sent = send(DeleteKey, { ...request, waitFor: ["keys"], requireProjected: true });
    await expect(sent).rejects.toMatchObject({ status: 503, errorCode: "unavailable" });
    expect(warnings).toHaveLength(1);
  });

  test("throws a rejection with its status", async () => {
    const { send, sent } = harness([
      { position: 0, repeated: false, rejection: { code: "key_not_found", message: "No.", param: "id" } },
    ]);
    await expect(send(DeleteKey, request)).rejects.toMatchObject({
      status: 404,
      errorCode: "key_not_found",
      message: "No.",
      param: "id",
    });
    expect(sent).toHaveLength(1);
  });

  test("retries under the same id while the thread is busy", async () => {
    const { send, sent } = harness([busy, busy, done]);
    const sentNow = send(DeleteKey, request);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await sentNow).toEqual({ ...done, projected: true });
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  });

  test("retries more seldom the more requests of the organization wait for busy threads", async () => {
    const { send, sent } = harness([busy]);
    const rate = async (): Promise<number> => {
      await vi.advanceTimersByTimeAsync(5_000);
      const before = sent.length;
      await vi.advanceTimersByTimeAsync(5_000);
      return sent.length - before;
    };
    const waiting = Array.from({ length: 320 }, () => send(DeleteKey, request).catch(() => {}));
    expect(await rate()).toBeLessThan(600);
    await vi.advanceTimersByTimeAsync(20_000);
    await Promise.all(waiting);
    const others = Array.from({ length: 20 }, () => send(DeleteKey, request).catch(() => {}));
    expect(await rate()).toBeGreaterThan(100);
    await vi.advanceTimersByTimeAsync(20_000);
    await Promise.all(others);
  });

  test("refuses a request while a thousand of its organization wait for busy threads, and no other organization's", async () => {
    const { send, sent } = harness([busy]);
    const gaveUp = { status: 409, errorCode: "thread_busy" };
    const waiting = Array.from({ length: 1_000 }, () => send(DeleteKey, request));
    const ended = Promise.allSettled(waiting);
    const other = expect(send(DeleteKey, { ...request, organization_id: "o2" })).rejects.toMatchObject(gaveUp);
    await vi.advanceTimersByTimeAsync(0);
    await expect(send(DeleteKey, request)).rejects.toMatchObject({
      status: 429,
      errorCode: "rate_limited",
      message: expect.stringContaining("1000 requests of the organization wait"),
      retryAfterMs: 5_000,
    });
    expect(sent).toHaveLength(1_002);
    await vi.advanceTimersByTimeAsync(20_000);
    await other;
    const outcomes = (await ended).map((outcome) => outcome.status === "rejected" && outcome.reason);
    expect(outcomes.filter(({ errorCode }) => errorCode !== "thread_busy")).toEqual([]);
    const next = expect(send(DeleteKey, request)).rejects.toMatchObject(gaveUp);
    await vi.advanceTimersByTimeAsync(20_000);
    await next;
  });

  test("does not retry a command that failed in the service", async () => {
    const { send, sent } = harness([
      { position: 0, repeated: false, rejection: { code: "internal", message: "No.", retryable: true } },
    ]);
    await expect(send(DeleteKey, request)).rejects.toMatchObject({ status: 500 });
    expect(sent).toHaveLength(1);
  });

  test("gives up on a busy thread with a 409 after 20 s", async () => {
    const { send } = harness([busy]);
    const rejected = expect(send(DeleteKey, request)).rejects.toMatchObject({ status: 409, errorCode: "thread_busy" });
    await vi.advanceTimersByTimeAsync(20_000);
    await rejected;
  });

  test("does not retry for a client that has disconnected", async () => {
    const { send, sent } = harness([busy]);
    await expect(send(DeleteKey, { ...request, signal: AbortSignal.abort() })).rejects.toMatchObject({ status: 409 });
    expect(sent).toHaveLength(1);
  });
});

describe("a fresh read", () => {
  test("waits for all events so far, of a stream or of the log", async () => {
    const { waitUntilCurrent, waited } = harness([done]);
    await waitUntilCurrent(["turns"], "thread-1");
    await waitUntilCurrent(["keys"]);
    expect(waited).toEqual([
      [["turns"], 9, 4_500, undefined],
      [["keys"], 9, 4_500, undefined],
    ]);
  });

  test("answers 503 when the projections lag for too long", async () => {
    const { waitUntilCurrent } = harness([done], false);
    await expect(waitUntilCurrent(["turns"], "thread-1")).rejects.toMatchObject({
      status: 503,
      errorCode: "unavailable",
    });
  });
});
