import { describe, expect, test } from "vitest";
import { code, openWorkflows, UNKNOWN, WAITING } from "./harness.ts";

/* A new source against the runs that are stored: POST /api/definitions/{id}/check-runs. */

const w = await openWorkflows();
const { home } = w;

/** Two steps, an approval and a sleep. */
const SOURCE = `export const steps = {
  price: ({ sku }) => ({ sku, cents: 250 }),
  book: ({ cents, to }) => ({ booked: cents, to }),
};
export async function run(ctx, { sku }) {
  const at = ctx.now("at");
  const price = await ctx.runStep("price", { sku });
  const { approved } = await ctx.awaitApproval("boss", { title: "Buy " + sku + "?" });
  if (!approved) return { bought: false };
  await ctx.sleep(1);
  const booked = await ctx.runStep("book", { cents: price.cents, to: "stock", at });
  return { bought: true, booked };
}`;
const changed = (from: string, to: string): string => {
  expect(SOURCE).toContain(from);
  return SOURCE.replace(from, to);
};
const check = (definition: { id: string }, body: object, by = home.owner) =>
  by("POST", `/definitions/${definition.id}/check-runs`, body);

/** A definition with a completed run and one that waits for its approval. */
async function recorded() {
  const workflow = await home.register(SOURCE);
  const completed = await home.start(workflow, { sku: "A" });
  const [approval] = await home.pending(completed);
  await home.decide(approval);
  expect((await home.untilOver(completed)).status).toBe("completed");
  const waiting = await home.start(workflow, { sku: "B" });
  await home.pending(waiting);
  return { definition: workflow.definition as { id: string }, completed, waiting };
}
let shared: ReturnType<typeof recorded> | undefined;
const stored = () => (shared ??= recorded());

describe("a new source", () => {
  /** Checks a source: the whole answer, its counts, and its part about the completed run. */
  async function of(source: string) {
    const { definition, completed, waiting } = await stored();
    const { data, ...counts } = await home.made(check(definition, { source }));
    return { completed, waiting, counts, data, run: data.find(({ run_id }: any) => run_id === completed) };
  }

  test("that changes only texts takes the same path, and nothing is recorded", async () => {
    const before = await home.read((await stored()).completed);
    const { counts, data, waiting, completed } = await of(
      `// another line\n${SOURCE.replaceAll("price.cents", "price['cents']")}`,
    );
    expect(counts).toEqual({ checked: 2, same: 2, different: 0, failed: 0, unanswered: 0, next_cursor: null });
    expect(data.map(({ run_id, outcome }: any) => [run_id, outcome])).toEqual([
      [waiting, "same"],
      [completed, "same"],
    ]);
    expect(await home.read(completed)).toEqual(before);
  });

  test("that calls a step with other arguments takes another path, reported with its line", async () => {
    const { counts, run } = await of(changed('to: "stock"', 'to: "shop"'));
    expect(counts).toMatchObject({ same: 1, different: 1 });
    expect(run).toMatchObject({
      outcome: "different",
      difference: {
        reason: "arguments",
        call: { kind: "step", name: "book" },
        pointers: ["/to"],
        line: 11,
        column: 53,
      },
    });
  });

  test("that asks people something else takes another path, also for a run that waits for them", async () => {
    const { counts, data } = await of(changed('"?" }', '" now?" }'));
    expect(counts).toMatchObject({ different: 2 });
    const approval = { kind: "approval", name: "boss" };
    for (const { difference } of data)
      expect(difference).toMatchObject({
        reason: "arguments",
        call: approval,
        recorded: approval,
        pointers: ["/title"],
      });
  });

  test("that adds or omits a call, or has another result, takes another path", async () => {
    const other = await of(changed('ctx.runStep("book"', 'ctx.runStep("price"'));
    expect(other.run.difference).toMatchObject({
      reason: "call",
      call: { name: "price" },
      recorded: { name: "book" },
      line: 11,
    });
    const shorter = await of(changed("await ctx.sleep(1);", ""));
    expect(shorter.run.difference).toMatchObject({ reason: "missing", recorded: { kind: "timer" }, line: null });
    const result = await of(changed("bought: true", "bought: 1"));
    expect(result.run.difference).toMatchObject({ reason: "result", pointers: ["/bought"] });
  });

  test("that makes more calls than recorded needs an answer", async () => {
    const { counts, run } = await of(
      changed("return { bought: true", "await ctx.runStep('price', { sku: 1 });\nreturn { bought: true"),
    );
    expect(counts).toMatchObject({ same: 1, unanswered: 1 });
    expect(run).toMatchObject({
      outcome: "unanswered",
      difference: { reason: "added", call: { name: "price" }, line: 12 },
    });
  });

  test("that throws fails with its position", async () => {
    const { counts, data } = await of(
      changed('await ctx.runStep("price", { sku })', '(await ctx.runStep("price", { sku })).no.cents'),
    );
    expect(counts).toMatchObject({ failed: 2 });
    expect(data[0].error).toMatchObject({ code: "run_error", line: 7, column: expect.any(Number) });
  });

  test("can be checked against the runs of one workflow or status, in pages", async () => {
    const { definition, waiting, completed } = await stored();
    const first = await home.made(check(definition, { source: SOURCE, limit: 1 }));
    expect(first).toMatchObject({ checked: 1, data: [{ run_id: waiting }], next_cursor: expect.any(String) });
    const second = await home.made(check(definition, { source: SOURCE, limit: 1, cursor: first.next_cursor }));
    expect(second).toMatchObject({ checked: 1, data: [{ run_id: completed }], next_cursor: null });
    expect(await home.made(check(definition, { source: SOURCE, status: "completed" }))).toMatchObject({ checked: 1 });
    expect(await home.made(check(definition, { source: SOURCE, workflow_id: UNKNOWN }))).toMatchObject({ checked: 0 });
  });

  test("can be checked only by builders of the organization, and must be a valid workflow", async () => {
    const { definition } = await stored();
    const body = { source: SOURCE };
    expect(code(await check({ id: UNKNOWN }, body))).toEqual([404, "definition_not_found"]);
    expect(code(await check(definition, { source: "export const x = ;" }))).toEqual([400, "invalid_definition"]);
    expect(code(await check(definition, { ...body, cursor: "x" }))).toEqual([400, "invalid_cursor"]);
    const tool = { type: "tool", name: "t1", source: "export const execute = () => 1;" };
    expect(code(await check(await home.made(home.owner("POST", "/definitions", tool)), body))).toEqual([
      400,
      "invalid_definition",
    ]);
    const other = await w.join("Other");
    expect(code(await check(definition, body, other.owner))).toEqual([404, "definition_not_found"]);
    const { call } = await home.member("approver");
    expect(code(await check(definition, body, call))).toEqual([403, "forbidden"]);
    expect(code(await check(definition, body, home.key))).toEqual([403, "session_required"]);
  });
});

test("runs with races, failures or continuations take the same path with their own source", async () => {
  const source = `export const steps = {
    add: ({ n }) => n + 1,
    fail() { throw new TypeError("broken"); },
  };
  import { defineStep } from "svc:workflow";
  steps.once = defineStep({ retries: 0 }, steps.fail);
  export async function run(ctx, { how }) {
    const [a, b] = await ctx.runStepMany("add", [{ n: 1 }, { n: 2 }]);
    if (how === "throw") throw new Error("no " + how);
    if (how === "step") await ctx.runStep("once");
    if (how === "value") return ctx.runStep("once", {}, { onError: "return" });
    const early = await ctx.runStep("add", { n: 3 }).catch(() => 0);
    return { a, b, later: await ctx.runStep("add", { n: early }) };
  }`;
  const workflow = await home.register(source);
  const runs: string[] = [];
  for (const how of ["throw", "step", "value", "caught"]) runs.push(await home.start(workflow, { how }));
  for (const run of runs) await home.untilOver(run);
  const failed = runs[1]!;
  const { id } = await home.made(home.owner("POST", `/workflows/runs/${failed}/retry`));
  await home.untilOver(id);
  const answer = await home.made(check(workflow.definition, { source }));
  expect(answer.data.map(({ difference, error }: any) => ({ difference, error }))).toEqual(
    Array.from({ length: 5 }, () => ({ difference: null, error: null })),
  );
  expect(answer).toMatchObject({ checked: 5, same: 5 });
  const mended = await home.made(
    check(workflow.definition, { source: source.replace("throw new Error", "void new Error"), status: "failed" }),
  );
  expect(mended.data.find(({ run_id }: any) => run_id === runs[0])).toMatchObject({
    outcome: "unanswered",
    difference: { reason: "added", call: { kind: "step", name: "add" } },
  });
});

test("a source that computes forever fails for each run, and does not delay other organizations", async () => {
  const { definition } = await home.register(WAITING);
  const workflow = await home.register(undefined, {}, { definition_id: definition.id });
  await home.pending(await home.start(workflow));
  const endless = check(definition, { source: "export function run() { for (;;) {} }" });
  const other = await w.join("Patient");
  const patient = await other.register(WAITING);
  await other.pending(await other.start(patient));
  const own = await other.made(check(patient.definition, { source: WAITING }, other.owner));
  expect(own).toMatchObject({ same: 1 });
  expect(await home.made(endless)).toMatchObject({ failed: 1, data: [{ error: { code: "run_timeout" } }] });
});

test("a run with a child run takes the same path, and another path with other arguments", async () => {
  const child = await home.register(`export async function run(ctx, { n }) { return n; }`);
  const source = `export async function run(ctx) {
    const started = await ctx.startRun(${JSON.stringify(child.id)}, { n: 1 });
    return (await ctx.waitForRun(started)).result;
  }`;
  const workflow = await home.register(source);
  const run = await home.start(workflow);
  expect(await home.untilOver(run)).toMatchObject({ status: "completed", result: 1 });
  expect(await home.made(check(workflow.definition, { source }))).toMatchObject({ checked: 1, same: 1 });
  const other = await home.made(check(workflow.definition, { source: source.replace("n: 1", "n: 2") }));
  expect(other.data[0]).toMatchObject({
    outcome: "different",
    difference: { reason: "arguments", call: { kind: "child", name: child.id }, line: 2 },
  });
});
