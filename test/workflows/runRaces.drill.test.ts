import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { approvalId } from "#events/ids.ts";
import { memoKey } from "#services/workflows/memoKey.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openWorkflows, workflowSource } from "./harness.ts";

/* What happens to a run at the same moment from several sides, and what happens while it waits. */

const w = await openWorkflows();

const MANY = Array.from({ length: 12 }, (_, n) => n);
const ENDS = ["run.completed", "run.failed", "run.cancelled"];
const endsIn = (events: string[]): string[] => events.filter((name) => ENDS.includes(name));

describe("cancelling a run at the moment of", () => {
  test("complete() ends it in one of the two ways, and every answer is consistent", async () => {
    const { home } = w;
    const workflow = await home.register(
      workflowSource(`return ctx.complete(await ctx.runStep("one", {}));`, `one: () => 1`),
    );
    const answers = await Promise.all(
      MANY.map(async (n) => {
        const run = await home.start(workflow);
        await sleep(3 * n);
        return { run, answer: await home.cancel(run) };
      }),
    );
    for (const { run, answer } of answers) {
      const { status, result } = await home.untilOver(run);
      if (answer.status === 409)
        expect([answer.body.error.code, status, result]).toEqual(["run_not_live", "completed", 1]);
      else expect([answer.status, status, result]).toEqual([200, "cancelled", null]);
      expect(endsIn(await w.home.followedEvents(run))).toEqual([`run.${status}`]);
    }
  });

  test("a decision accepts or refuses the decision completely", async () => {
    const { home } = w;
    const workflow = await home.register(
      workflowSource(
        `await ctx.awaitApproval("boss", { title: "Go?" }); return ctx.runStep("after", {});`,
        `after: () => "after"`,
      ),
    );
    const runs = await Promise.all(MANY.map(() => home.start(workflow)));
    for (const run of runs) {
      const [approval] = await home.pending(run);
      const [decided, cancelled] = await Promise.all([home.decide(approval), home.cancel(run)]);
      const { status, result, steps } = await home.untilOver(run);
      const [after] = await home.approvals(run);
      expect(after.status).toBe(decided.status === 200 ? "approved" : "cancelled");
      if (decided.status !== 200) expectRefusal(decided, 409, "approval_not_pending", null);
      expect(status).toBe(cancelled.status === 200 ? "cancelled" : "completed");
      if (status === "completed") expect(result).toBe("after");
      if (decided.status !== 200) expect(steps).toEqual([]);
    }
  });

  test("the start of a step starts no step after the answer", async () => {
    const { home, site, egress } = w;
    const source = workflowSource(
      `for (let n = 0; n < 200; n++) await ctx.runStep("visit", { n, path: args.path });`,
      `visit: async ({ path }, ctx) => (await (await ctx.fetch("${site.url}" + path)).json()).nth`,
    );
    const workflow = await home.register(source, egress);
    await Promise.all(
      MANY.map(async (n) => {
        const path = `/begin-${n}`;
        const run = await home.start(workflow, { path });
        await site.requested(path, 1 + (n % 4));
        const { status, body } = await home.cancel(run);
        expect(status).toBe(200);
        const { steps } = await home.until(run, (record) =>
          record.steps.every((step: any) => step.status !== "running"),
        );
        const events = await w.home.followedEvents(run);
        const after = events.slice(events.indexOf("run.cancelled"));
        // the running step may have ended before the answer was written
        const late = after.length - 1;
        expect(after).toEqual(["run.cancelled", ...Array(late).fill("step.completed")]);
        expect([late, body.steps_still_running]).toEqual([expect.toBeOneOf([0, 1]), expect.toBeOneOf([0, late])]);
        const begun = steps.filter(({ attempts }: any) => attempts.length > 0).length;
        expect([begun, site.times(path)]).toEqual([site.times(path), begun]);
      }),
    );
  });

  test("the read of a secret reveals no secret after the answer", async () => {
    const { home, site, egress } = w;
    await home.secret("often", "often-told-secret");
    const source = workflowSource(
      `await ctx.runStep("ask", args);`,
      `ask: async ({ path }, ctx) => {
        for (let n = 0; n < 300; n++) {
          const told = await ctx.secrets.get("often").then(() => "told", ({ code }) => code);
          await ctx.fetch("${site.url}" + path + "?" + told);
          if (told !== "told") return told;
        }
      }`,
    );
    const workflow = await home.register(source, { ...egress, secrets: ["often"] });
    await Promise.all(
      MANY.slice(0, 6).map(async (n) => {
        const path = `/secret-${n}`;
        const run = await home.start(workflow, { path });
        await site.requested(`${path}?told`, 2 + n);
        expect((await home.cancel(run)).status).toBe(200);
        // a secret that was read before the answer may reach the site later
        const before = site.times(`${path}?told`);
        const { steps } = await home.until(run, (record) => record.steps[0].status === "completed");
        expect(steps[0].result).toBe("secret_access_revoked");
        expect(site.times(`${path}?told`) - before).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("two approvals of one run", () => {
  test("with the same name in sequence are two if their options differ", async () => {
    const { home } = w;
    const source = workflowSource(
      `const ask = (title, more) => ctx.awaitApproval("boss", { title, ...more });
      const first = await ask("First?");
      const second = await ask("Second?");
      const same = await ask("First?");
      const again = await ask("First?", { key: "again" });
      return [first, second, same, again].map(({ comment }) => comment);`,
    );
    const run = await home.start(await home.register(source));
    const ids = new Set<string>();
    for (const comment of ["one", "two", "three"]) {
      const [approval] = await home.pending(run);
      ids.add(approval.id);
      expect((await home.decide(approval, { decision: "approve", comment })).status).toBe(200);
      expectRefusal(await home.decide(approval, "reject"), 409, "approval_not_pending", null);
    }
    expect((await home.untilOver(run)).result).toEqual(["one", "two", "one", "three"]);
    expect(ids.size).toBe(3);
  });

  test("that are concurrent are decided independently, in any order and in parallel", async () => {
    const { home } = w;
    const source = workflowSource(
      `const names = ["a", "b", "c", "d"];
      const answers = await Promise.all(names.map((name) => ctx.awaitApproval(name, { title: "Go?" })));
      return answers.map(({ approved, comment }) => [approved, comment]);`,
    );
    const run = await home.start(await home.register(source));
    const asked = await home.pending(run, 4);
    const waiting = (await home.read(run)).waiting_on;
    expect(waiting.map(({ type, name }: any) => [type, name])).toEqual(
      ["a", "b", "c", "d"].map((name) => ["approval", name]),
    );
    const decided = await Promise.all(
      asked
        .toReversed()
        .map((approval) => home.decide(approval, { approved: approval.name !== "c", comment: `for ${approval.name}` })),
    );
    expect(decided.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await home.untilOver(run)).result).toEqual([
      [true, "for a"],
      [true, "for b"],
      [false, "for c"],
      [true, "for d"],
    ]);
  });

  test("lose the one that run() no longer requests, which is cancelled and cannot be decided", async () => {
    const { home } = w;
    const source = workflowSource(
      `const isKnown = (call) => call.then(() => true, () => false);
      const isDecided = await isKnown(ctx.awaitApproval("first", { title: "Now?" }));
      const asks = !isDecided && (await isKnown(ctx.runStep("look", {})));
      if (asks) await ctx.awaitApproval("second", { title: "Or now?" });
      return ctx.complete(isDecided);`,
      `look: () => 1`,
    );
    const run = await home.start(await home.register(source));
    expect(await home.untilOver(run)).toMatchObject({ status: "completed", result: false });

    const changes = workflowSource(
      `const title = await ctx.runStep("look", {}).then((seen) => "With " + seen, () => "Without");
      const { comment } = await ctx.awaitApproval("boss", { title });
      return comment;`,
      `look: async (_, ctx) => { await ctx.fetch("${w.site.url}/hold/look"); return 7; }`,
    );
    const other = await home.start(await home.register(changes, w.egress));
    const [without] = await home.pending(other);
    expect(without.title).toBe("Without");
    w.site.release("/hold/look");
    await expect
      .poll(async () => (await home.approvals(other)).map(({ status }) => status))
      .toEqual(["cancelled", "pending"]);
    expectRefusal(await home.decide(without), 409, "approval_not_pending", null);
    const [, asked] = await home.approvals(other);
    expect(asked.title).toBe("With 7");
    await home.decide(asked, { decision: "approve", comment: "seven" });
    expect((await home.untilOver(other)).result).toBe("seven");
  });

  test("are unknown until run() requests them, and an earlier decision is not stored", async () => {
    const { home, site, egress } = w;
    const source = workflowSource(
      `await ctx.runStep("slow", {}); return (await ctx.awaitApproval("boss", { title: "Go?" })).approved;`,
      `slow: async (_, ctx) => { await ctx.fetch("${site.url}/hold/early"); return 1; }`,
    );
    const run = await home.start(await home.register(source, egress));
    await site.requested("/hold/early");
    const id = approvalId(run, memoKey("approval", "boss", null, JSON.stringify({ title: "Go?" })));
    expectRefusal(await home.decide({ id }), 404, "approval_not_found", "approval_id");
    site.release("/hold/early");
    expect((await home.pending(run)).map((approval) => approval.id)).toEqual([id]);
    await home.decide({ id }, "reject");
    expect((await home.untilOver(run)).result).toBe(false);
  });
});

describe("a run that waits", () => {
  test("for an approval longer than the time limit of a step continues afterwards", async () => {
    const { home } = w;
    const source = workflowSource(
      `const before = await ctx.runStep("quick", { n: 1 });
      await ctx.awaitApproval("boss", { title: "Go?" });
      return [before, await ctx.runStep("quick", { n: 2 })];`,
      `quick: defineStep({ timeout_s: 0.5, retries: 0 }, ({ n }) => n)`,
    );
    const run = await home.start(await home.register(source, { limits: { step_timeout_s: 1 } }));
    const [approval] = await home.pending(run);
    await sleep(1_500);
    expect((await home.read(run)).status).toBe("running");
    await home.decide(approval);
    const record = await home.untilOver(run);
    expect([record.status, record.result, record.counts.attempts]).toEqual(["completed", [1, 2], 2]);
  });

  test("for a step that times out shows the timeout, and the step is retried", async () => {
    const { home, site, egress } = w;
    const source = workflowSource(
      `return ctx.runStep("slow", {});`,
      `slow: defineStep({ timeout_s: 0.5, retries: 1, backoff: { kind: "fixed", initial_ms: 1 } }, async (_, ctx) => {
        if (ctx.attempt === 1) await ctx.fetch("${site.url}/hold/for-ever");
        return ctx.attempt;
      })`,
    );
    const record = await home.run(source, {}, egress);
    expect([record.status, record.result]).toEqual(["completed", 2]);
    expect(record.steps[0].attempts.map(({ error }: any) => error)).toEqual([
      expect.stringContaining("longer than 0.5 seconds"),
      null,
    ]);
  });

  test("for an approval until it expires continues as its options say", async () => {
    const { home } = w;
    const ask = (on_expiry: string) =>
      workflowSource(`const { status, approved } = await ctx.awaitApproval("boss", { title: "Go?", expires_in: "300ms", on_expiry: "${on_expiry}" });
      return { status, approved };`);
    const [back, no, fails] = await Promise.all(["return", "reject", "fail"].map((way) => home.run(ask(way))));
    expect([back.result, no.result]).toEqual([
      { status: "expired", approved: false },
      { status: "rejected", approved: false },
    ]);
    expect([fails.status, fails.error_info.code]).toEqual(["failed", "approval_expired"]);
  });
});
