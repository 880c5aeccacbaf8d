import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { NO_OUTPUT, NO_USAGE } from "#events/thread.ts";
import { errorHeaders } from "../base/errors.ts";
import { turnFailure, waitForEnd } from "./turnEnd.ts";

const refused = (code: string | null) => ({ status: "refused" as const, code, message: "No.", retry_after_ms: 2_000 });

test("a turn whose worker could not read its data is a 503 with the time of a retry, and a refusal of the provider is a 502", () => {
  expect(turnFailure(refused("unavailable"))).toMatchObject({
    status: 503,
    errorCode: "unavailable",
    retryAfterMs: 2_000,
  });
  expect(turnFailure(refused(null))).toMatchObject({ status: 502, errorCode: null, retryAfterMs: 2_000 });
  expect(turnFailure(refused("model_not_found"))).toMatchObject({ status: 400, errorCode: "model_not_found" });
});

test("SDKs retry a turn that budgets have refused, but not one that they ended after rounds with tools", () => {
  expect(errorHeaders(turnFailure(refused("budget_reserved")))).toMatchObject({ "x-should-retry": "true" });
  const failed = {
    status: "failed" as const,
    code: "budget_reserved",
    message: "No.",
    said: NO_OUTPUT,
    usage: NO_USAGE,
  };
  const answer = turnFailure(failed);
  expect([answer.status, errorHeaders(answer)]).toEqual([429, { "x-should-retry": "false" }]);
});

const END = {
  type: "end",
  end: { status: "stopped", message: "Stopped.", said: NO_OUTPUT, usage: NO_USAGE, model: "m" },
};
const SILENCE = undefined;

/** Waits for a turn whose frames, and silences between them, are these. Says how often it was looked up with others, and alone. */
async function wait(
  { row, running, ends_by = Date.now() + 60_000 }: { row?: object; running: boolean[]; ends_by?: number },
  ...frames: unknown[]
) {
  const looks = { shared: 0, own: 0 };
  const http = {
    isTurnRunning: async () => running[looks.shared++],
    db: { query: async () => (looks.own++, row ? [row] : []) },
    turnHistory: { isDeleted: async () => true },
  };
  const turn = { organization_id: newId(), turn_id: newId(), thread_id: newId(), ends_by };
  const reader = { next: async () => frames.shift() };
  const end = await waitForEnd(http as never, turn, reader as never, new AbortController().signal);
  return { end, looks };
}

const ROW = {
  status: "running",
  ends_by: new Date(),
  parked_at: null,
  model: '"m"',
  said: null,
  usage: null,
  code: null,
};

test("while a turn runs, it is looked up together with others only, and its row is read once it has ended", async () => {
  expect(await wait({ running: [true, true] }, SILENCE, SILENCE, END)).toEqual({
    end: END.end,
    looks: { shared: 2, own: 0 },
  });
  const row = { ...ROW, status: "failed", error: '"Broken."', input: null, agent: null, asked: null };
  expect(await wait({ row, running: [true, false] }, SILENCE, SILENCE)).toMatchObject({
    end: { status: "failed", message: "Broken." },
    looks: { shared: 2, own: 1 },
  });
});

test("a turn that neither runs nor has a row is looked up in the log, which says that it was deleted", async () => {
  await expect(wait({ running: [false] }, SILENCE)).rejects.toMatchObject({ errorCode: "thread_not_found" });
});

test("a turn that waits for a person beyond the time of its request ends the request", async () => {
  const row = { ...ROW, parked_at: new Date(), error: null, input: null, agent: null, asked: null };
  expect(await wait({ row, running: [], ends_by: Date.now() - 1_000 }, SILENCE)).toEqual({
    end: undefined,
    looks: { shared: 0, own: 1 },
  });
});
