import { describe, expect, test } from "vitest";
import { code, openWorkflows, UNKNOWN, WAITING, workflowSource } from "./harness.ts";

/* How often runs of a workflow start, and which go first. */

const w = await openWorkflows();

const DAILY = { start_rate: { max_runs: 2, per_seconds: 86_400, key: "/customer" } };
const start = (id: string, args: object, more: object = {}, headers: Record<string, string> = {}) =>
  w.home.owner("POST", `/workflows/${id}/runs`, { args, ...more }, headers);

describe("start_rate", () => {
  test("limits the number of starts in a period for each value of the key, even if all come at once", async () => {
    const { id } = await w.home.register(WAITING, DAILY);
    const answers = await Promise.all(Array.from({ length: 8 }, () => start(id, { customer: "a" })));
    const refused = answers.filter(({ status }) => status !== 202);
    expect(answers).toHaveLength(refused.length + 2);
    for (const answer of refused) expect(code(answer)).toEqual([429, "start_rate_limited"]);
    expect(refused[0]!.body.error.message).toBe(
      "2 runs have started in this period of 86400 s with this value of /customer, as envelope.start_rate allows.",
    );
    const wait = Number(refused[0]!.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(86_400);
    expect((await start(id, { customer: "b" })).status).toBe(202);
  });

  test("counts ended runs, and a repeated request once", async () => {
    const { id } = await w.home.register(workflowSource("return 1"), DAILY);
    const key = { "idempotency-key": "again" };
    const first = await start(id, { customer: "c" }, {}, key);
    await w.home.untilOver(first.body.id);
    expect((await start(id, { customer: "c" }, {}, key)).body.id).toBe(first.body.id);
    await w.home.untilOver((await start(id, { customer: "c" })).body.id);
    expect(code(await start(id, { customer: "c" }))).toEqual([429, "start_rate_limited"]);
    await w.home.edit({ id }, { envelope: { start_rate: null } });
    expect((await start(id, { customer: "c" })).status).toBe(202);
  });

  test("fails a run that starts more child runs than the limit", async () => {
    const child = await w.home.register(workflowSource("return 1"), DAILY);
    const source = workflowSource(
      `for (let n = 0; n < 3; n++) await ctx.startRun(args.child, { customer: "d" }, { key: String(n) });`,
    );
    const { status, error_info } = await w.home.run(source, { child: child.id });
    expect([status, error_info.code]).toEqual(["failed", "start_rate_limited"]);
  });

  test.each([
    [{ max_runs: 0, per_seconds: 1 }, "envelope.start_rate.max_runs"],
    [{ max_runs: 1 }, "envelope.start_rate.per_seconds"],
    [{ max_runs: 1, per_seconds: 86_401 }, "envelope.start_rate.per_seconds"],
    [{ max_runs: 1, per_seconds: 1, key: "customer" }, "envelope.start_rate.key"],
    [{ max_runs: 1, per_seconds: 1, every: 2 }, "envelope.start_rate.every"],
  ])("%j is refused with the name of the field", async (start_rate, param) => {
    const { id } = await w.home.register();
    const { status, body } = await w.home.owner("PATCH", `/workflows/${id}`, { envelope: { start_rate } });
    expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_envelope", param]);
  });
});

describe("priority", () => {
  test("is the workflow's, or a lower one from the start request", async () => {
    const { id } = await w.home.register(WAITING);
    const { body } = await start(id, {}, { priority: "low" });
    expect((await w.home.read(body.id)).priority).toBe("low");
    expect((await w.home.read((await start(id, {})).body.id)).priority).toBe("normal");
    const high = await w.home.register(WAITING, { priority: "high" });
    expect((await w.home.read(await w.home.start(high))).priority).toBe("high");
    const named = await start(high.id, {}, { priority: "normal" });
    expect((await w.home.read(named.body.id)).priority).toBe("normal");
  });

  test("above the workflow's is refused, and so is an unknown priority", async () => {
    const { id } = await w.home.register(WAITING);
    for (const priority of ["high", "urgent", 1]) {
      const { status, body } = await start(id, {}, { priority });
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_priority", "priority"]);
      expect(body.error.message).toContain('must be "low" or "normal"');
    }
    expect((await start(UNKNOWN, {}, { priority: "low" })).status).toBe(404);
  });
});
