import { describe, expect, test } from "vitest";
import type { RecordedCall, RecordedRun } from "#http/base/runReplayer.ts";
import { TickLost, type TickCall, type TickOutcome } from "#services/workflows/tick.ts";
import { tickOutcome } from "#test/samples.ts";
import { createRunReplayer } from "./replayRun.ts";

const step = (key: string, args: object, result?: unknown): RecordedCall => ({
  key,
  kind: "step",
  name: "pay",
  args: JSON.stringify(args),
  answer: result === undefined ? undefined : { json: JSON.stringify(result) },
});
const recorded = (calls: RecordedCall[], end: RecordedRun["end"] = { type: "open" }): RecordedRun => ({
  run_id: "r1",
  created_at: 0,
  args: "{}",
  headers: {},
  calls,
  answered: calls.filter(({ answer }) => answer).map(({ key }) => key),
  end,
});
const asks = (...steps: { key: string; args: string }[]): Pick<TickOutcome, "pending" | "calls"> => ({
  pending: steps.map((one) => ({
    kind: "steps",
    steps: [{ name: "pay", ...one }],
    concurrency: null,
    on_error: "fail",
  })),
  calls: steps.map(({ key }, n) => ({ key, line: n + 1, column: 1 })),
});
const made = (...keys: string[]) => ({ calls: keys.map((key) => ({ key, line: 1, column: 1 })) });
const returned = (json: string): TickOutcome["end"] => ({ type: "completed", completion: "implicit", json });

/** Replays a run whose ticks are a function of their memo. */
async function replay(run: RecordedRun, tick: (call: TickCall) => Partial<TickOutcome>) {
  const memos: number[] = [];
  const runner = {
    async tick(call: TickCall) {
      memos.push(call.memo.length);
      return { ...tickOutcome(), ...tick(call) };
    },
    forget: () => {},
  };
  const replayed = await createRunReplayer(runner).replay("o1", { js: "js", ordered: false }, async () => run);
  return { replayed, memos };
}

describe("a replay", () => {
  test("is one tick for a run that goes the same way", async () => {
    const run = recorded([step("a", {}, 1), step("b", {}, 2)], { type: "completed", json: "3" });
    const { replayed, memos } = await replay(run, () => ({ end: returned("3"), ...made("b", "a") }));
    expect([replayed, memos]).toEqual([{ outcome: "same" }, [2]]);
  });

  test("gives answers one after the other to a run that seems to differ", async () => {
    const run = recorded([step("a", {}, 1), step("early", {}, 0), step("b", {}, 2)], { type: "completed", json: "3" });
    const { replayed, memos } = await replay(run, ({ memo }) =>
      memo.length === 3
        ? { end: returned("3"), ...made("a", "b") }
        : { ...made("a", memo.length === 0 ? "early" : "b") },
    );
    expect([replayed, memos]).toEqual([{ outcome: "same" }, [3, 0, 1, 2, 3]]);
  });

  test("ends at the first call that was not recorded, with what differs in it", async () => {
    const run = recorded([step("a", { n: 1, to: "x" }, 1), step("b", {}, 2)]);
    const { replayed, memos } = await replay(run, () => asks({ key: "c", args: '{"n":2,"to":"x"}' }));
    expect(memos).toEqual([2, 0]);
    const pay = { kind: "step", name: "pay" };
    const difference = { reason: "arguments", call: pay, recorded: pay, pointers: ["/n"], line: 1, column: 1 };
    expect(replayed).toEqual({ outcome: "different", difference });
  });

  test("ticks again when a thread is lost, and takes a second loss for a failure", async () => {
    const run = recorded([step("a", {})]);
    let lost = 0;
    const losing = (times: number) =>
      replay(run, () => {
        if (lost++ < times) throw new TickLost("gone");
        return asks({ key: "a", args: "{}" });
      });
    expect((await losing(1)).replayed).toEqual({ outcome: "same" });
    lost = 0;
    expect((await losing(9)).replayed).toMatchObject({ outcome: "failed", error: { message: "gone" } });
  });

  test("of a run that fails as it did is the same, and otherwise a failure", async () => {
    const end = { type: "failed" as const, code: "run_error" as const, message: "no", line: 3, column: 5 };
    const failed = recorded([], { type: "failed", key: null, message: "no" });
    expect((await replay(failed, () => ({ end }))).replayed).toEqual({ outcome: "same" });
    const { replayed } = await replay(recorded([]), () => ({ end }));
    expect(replayed).toEqual({ outcome: "failed", error: { code: "run_error", message: "no", line: 3, column: 5 } });
  });
});
