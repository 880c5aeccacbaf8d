import { describe, expect, onTestFinished, test } from "vitest";
import { UNKNOWN, code, gate, isOver, openFunctions } from "./harness.ts";

let slow = gate();
const stage = await openFunctions({
  slow: {
    run: async (ctx) => ctx.complete(await ctx.runStepMany("slow", ["a", "b"], 2)),
    steps: { slow: (item) => slow.opened.then(() => item) },
  },
  waits: { run: async (ctx) => ctx.awaitApproval("boss", { title: "Go?" }) },
  echo: { run: async (ctx, args) => ctx.complete(args) },
});
const { home } = stage;

const cancel = (run: string, body?: unknown, by = home.owner) => by("POST", `/workflows/runs/${run}/cancel`, body);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("cancelling a run", () => {
  test("ends it, and running steps complete without an effect on it", async () => {
    slow = gate();
    onTestFinished(slow.open);
    const workflow = await stage.register("slow");
    const run = await home.start(workflow);
    await home.until(run, ({ steps }) => steps.filter(({ status }: any) => status === "running").length === 2);
    const { status, body } = await cancel(run, { reason: "too late \u0000" });
    const me = (await home.owner("GET", "/auth/me")).body.user.id;
    expect([status, body]).toEqual([
      200,
      {
        id: run,
        status: "cancelled",
        cancelled_at: time,
        cancelled_by: { type: "person", id: me },
        cancel_reason: "too late \u0000",
        steps_still_running: 2,
      },
    ]);
    const listed = (await home.owner("GET", `/workflows/${workflow.id}/runs?status=cancelled`)).body.data[0];
    expect(listed).toMatchObject({
      id: run,
      cancelled_by: { type: "person", id: me },
      completed_at: body.cancelled_at,
    });
    slow.open();
    const record = await home.until(run, ({ steps }) => steps.every(({ status }: any) => status === "completed"));
    expect([record.status, record.result, record.completed_at]).toEqual(["cancelled", null, body.cancelled_at]);
    expect(record.cancel_reason).toBe("too late \u0000");
    // cancelling again gives the same answer, with the steps that still run now
    const again = await cancel(run);
    expect([again.status, again.body]).toEqual([200, { ...body, steps_still_running: 0 }]);
    expect((await stage.events(run)).filter(({ type }) => type === "RunCancelled").length).toBe(1);
  });

  test("that waits for an approval cancels the approval", async () => {
    const run = await home.start(await stage.register("waits"));
    await home.until(run, ({ waiting_on }) => waiting_on.length > 0);
    expect((await cancel(run, {})).status).toBe(200);
    const { data } = (await home.owner("GET", `/workflows/runs/${run}/approvals`)).body;
    expect(data.map(({ status }: any) => status)).toEqual(["cancelled"]);
  });

  test("that has ended is refused", async () => {
    const run = await home.start(await stage.register("echo"));
    await home.until(run, isOver);
    expect(code(await cancel(run))).toEqual([409, "run_not_live"]);
  });

  test("cancels it once, even if many callers do it at the same moment", async () => {
    const run = await home.start(await stage.register("waits"));
    const answers = await Promise.all(Array.from({ length: 16 }, () => cancel(run)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await stage.events(run)).filter(({ type }) => type === "RunCancelled").length).toBe(1);
  });

  test("may give a reason, which must be a text of at most 1,000 characters", async () => {
    const run = await home.start(await stage.register("waits"));
    for (const id of [UNKNOWN, "nonsense", "%00"]) expect(code(await cancel(id))).toEqual([404, "run_not_found"]);
    for (const reason of [5, "x".repeat(1_001)]) {
      const { status, body } = await cancel(run, { reason });
      expect([status, body.error.param]).toEqual([400, "reason"]);
    }
    const approver = await home.member("approver");
    expect((await cancel(run, { reason: null }, approver.call)).body.cancelled_by.id).toBe(approver.id);
  });
});
