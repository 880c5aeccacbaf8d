import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { runTestFiles } from "../../cli/workflows/testFiles.ts";
import { folderWith } from "./localDefinition.ts";

/* Cases of workflows that are files: what `svc definitions test` runs. No service runs. */

const faultsOf = async (folder: string) => (await runTestFiles([folder])).map(({ name, fault }) => [name, fault]);
const DAY_MS = 86_400_000;

describe("svc definitions test", () => {
  test("passes cases with the expected result, error and calls, without waiting in real time", async () => {
    const steps = { price: { args: { sku: "A" }, result: { cents: 1 } } };
    const { folder } = await folderWith([
      {
        name: "bought",
        args: { sku: "A" },
        steps,
        approvals: { boss: "approve" },
        expect: { result: { cents: 1, late: 2 * DAY_MS } },
      },
      {
        name: "executed",
        args: { sku: "A" },
        execute: true,
        approvals: { boss: { decision: "reject" } },
        expect: {
          error: "not bought",
          calls: [
            { step: "price", args: { sku: "A" } },
            { approval: "boss", title: "Buy?" },
          ],
        },
      },
    ]);
    expect(await faultsOf(folder)).toEqual([
      ["bought", null],
      ["executed", null],
    ]);
  });

  test("gives a failed step the code of its answer", async () => {
    const source = `export const steps = { charge: () => 1 };
    export async function run(ctx) {
      const { ok, error } = await ctx.runStep("charge", {}, { onError: "return" });
      return ok ? "ok" : error.code;
    }`;
    const late = { name: "late", steps: { charge: { error: "gone", code: "step_timeout" } } };
    const plain = { name: "plain", steps: { charge: { error: "gone" } } };
    const { folder } = await folderWith(
      [
        { ...late, expect: { result: "step_timeout" } },
        { ...plain, expect: { result: "step_error" } },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["late", null],
      ["plain", null],
    ]);
  });

  test("fills in the defaults of a form, and refuses data that does not fit it", async () => {
    const source = `export async function run(ctx) {
      const form = { type: "object", properties: { amount: { type: "integer", default: 5 } } };
      return (await ctx.awaitApproval("budget", { title: "Budget?", form })).data.amount;
    }`;
    const wrong = { budget: { decision: "approve", data: { amount: "much" } } };
    const { folder } = await folderWith(
      [
        { name: "default", approvals: { budget: "approve" }, expect: { result: 5 } },
        { name: "wrong", approvals: wrong, expect: { result: "much" } },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["default", null],
      ["wrong", expect.stringContaining("The data of the approval budget does not fit its form: data/amount: ")],
    ]);
  });

  test("takes the same path each time, and steps see the id of their run", async () => {
    const source = `export const steps = { id: (_, ctx) => ctx.runId };
    export async function run(ctx) {
      return { seen: (await ctx.runStep("id")) === ctx.runId, random: Math.random(), uuid: ctx.uuid("order") };
    }`;
    const { folder } = await folderWith([{ name: "random", execute: true, expect: { result: null } }], source);
    const [[, found] = []] = await faultsOf(folder);
    expect(found).toMatch(/found \{"seen":true,"random":0\.\d+,"uuid":"/);
    expect(await faultsOf(folder)).toEqual([["random", found]]);
  });

  test("lets an approval expire at its time, so that what is due before comes first", async () => {
    const source = `export async function run(ctx, { days, on_expiry }) {
      const asked = ctx.awaitApproval("boss", { title: "Go?", expires_in: "1d", on_expiry });
      const first = await Promise.race([asked.then(({ status }) => status), ctx.sleep(days + "d").then(() => "late")]);
      return { first, hours: (ctx.now("end") - Date.now()) / 3600000 };
    }`;
    const expires = { approvals: { boss: "expire" } };
    const calls = [{ approval: "boss" }, { sleep: true }];
    const { folder } = await folderWith(
      [
        { ...expires, name: "timer", args: { days: 0.5 }, expect: { result: { first: "late", hours: 12 }, calls } },
        { ...expires, name: "expiry", args: { days: 2 }, expect: { result: { first: "expired", hours: 24 } } },
        { ...expires, name: "fails", args: { days: 2, on_expiry: "fail" }, expect: { error: "before it expired" } },
        {
          ...expires,
          name: "lost",
          args: { days: 0.5, on_expiry: "fail" },
          expect: { result: { first: "late", hours: 12 } },
        },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["timer", null],
      ["expiry", null],
      ["fails", null],
      ["lost", null],
    ]);
  });

  test("simulates results of other workflows' runs", async () => {
    const source = `export async function run(ctx, { id }) {
      const order = await ctx.startRun("Ship an order", { id });
      const { status, result, error } = await ctx.waitForRun(order, { timeout: "2d" });
      return { status, result, error };
    }`;
    const start = { startRun: "Ship an order", args: { id: 1 } };
    const base = { args: { id: 1 } };
    const calls = [start, { waitForRun: "Ship an order" }];
    const { folder } = await folderWith(
      [
        {
          ...base,
          name: "sent",
          runs: { "Ship an order": { result: 7 } },
          expect: { calls, result: { status: "completed", result: 7, error: null } },
        },
        {
          ...base,
          name: "lost",
          runs: { "Ship an order": { status: "failed", error: "lost" } },
          expect: { result: { status: "failed", result: null, error: "lost" } },
        },
        { ...base, name: "no answer", expect: { result: 1 } },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["sent", null],
      ["lost", null],
      [
        "no answer",
        expect.stringMatching(/buy\.ts:3:\d+: the end of the run Ship an order has no answer: add it to "runs"/),
      ],
    ]);
  });

  test("simulates events, and advances time to the next due call", async () => {
    const source = `export async function run(ctx) {
      const waits = [ctx.waitForEvent("paid", { match: { id: 1 }, timeout: "3d" }), ctx.sleep("2d").then(() => ctx.now("woken"))];
      const [paid, woken] = await Promise.all(waits);
      return { paid: paid.data ?? paid.status, woken, end: ctx.now("end") };
    }`;
    const now = "2026-01-01T00:00:00.000Z";
    const at = (days: number) => Date.parse(now) + days * DAY_MS;
    const paid = { data: { id: 1, amount: 5 } };
    const { folder } = await folderWith(
      [
        {
          name: "paid",
          now,
          events: { paid },
          expect: {
            result: { paid: paid.data, woken: at(2), end: at(2) },
            calls: [{ waitForEvent: "paid" }, { sleep: true }],
          },
        },
        {
          name: "not paid",
          now,
          events: { paid: "timeout" },
          expect: {
            result: { paid: "timed_out", woken: at(2), end: at(3) },
            calls: [{ sleep: true }, { sleep: true }],
          },
        },
        { name: "another order", events: { paid: { data: { id: 2 } } }, expect: { calls: [] } },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["paid", null],
      ["not paid", null],
      ["another order", expect.stringContaining('The event paid does not fit match {"id":1}')],
    ]);
  });

  test("lets time win a race that nobody decides", async () => {
    const source = `export async function run(ctx) {
      return Promise.race([ctx.awaitApproval("boss", { title: "Go?" }).then(() => "boss"), ctx.sleep("1d").then(() => "late")]);
    }`;
    const { folder } = await folderWith(
      [
        { name: "nobody", approvals: { boss: "wait" }, expect: { result: "late" } },
        { name: "boss", approvals: { boss: "approve" }, expect: { result: "boss" } },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["nobody", null],
      ["boss", null],
    ]);
  });

  test("simulates the votes of approvals with several votes, equal votes unless they are listed", async () => {
    const guide = readFileSync(new URL("../../docs/workflows.md", import.meta.url), "utf8");
    const blocks = guide.split("```ts\n").map((part) => part.split("```")[0]!);
    const snippet = blocks.find((block) => block.includes("required: 2"))!;
    const votes = [
      { decision: "approve", comment: "a", by: "Ann" },
      { decision: "approve", by: "Bob" },
    ];
    const given = { decision: "approve", comment: "fine" };
    const { folder } = await folderWith(
      [
        {
          name: "equal",
          approvals: { payment: given },
          expect: { result: { approved: true, comments: ["fine", "fine"] } },
        },
        {
          name: "rejected",
          approvals: { payment: "reject" },
          expect: { result: { approved: false, comments: [null] } },
        },
        { name: "expired", approvals: { payment: "expire" }, expect: { result: { approved: false, comments: [] } } },
        {
          name: "listed",
          approvals: { payment: { ...given, votes } },
          expect: { result: { approved: true, comments: ["a", null] } },
        },
      ],
      `export async function run(ctx, args) {\n${snippet}}`,
    );
    expect(await faultsOf(folder)).toEqual([
      ["equal", null],
      ["rejected", null],
      ["expired", null],
      ["listed", null],
    ]);
  });

  test("ends with continueAs and with undecided approvals", async () => {
    const source = `export async function run(ctx, { n = 1 }) {
      if (n > 1) await ctx.awaitApproval("boss", { title: "Go on?" });
      return ctx.continueAs({ n: n + 1 });
    }`;
    const { folder } = await folderWith(
      [
        { name: "goes on", expect: { continueAs: { n: 2 }, calls: [] } },
        { name: "otherwise", expect: { continueAs: { n: 3 } } },
        { name: "result", expect: { result: { n: 2 } } },
        { name: "nobody", args: { n: 2 }, approvals: { boss: "wait" }, expect: { calls: [] } },
      ],
      source,
    );
    expect(await faultsOf(folder)).toEqual([
      ["goes on", null],
      ["otherwise", 'expected continueAs with {"n":3}, found {"n":2}'],
      ["result", 'expected the result {"n":2}, found continueAs with {"n":2}'],
      ["nobody", expect.stringContaining("run() waits for boss, and nothing comes")],
    ]);
  });

  test("reports the difference and its place for each failed case", async () => {
    const steps = { price: { result: { cents: 1 } } };
    const base = { args: { sku: "A" }, steps, approvals: { boss: "reject" } };
    const { folder, file } = await folderWith([
      { ...base, name: "error", expect: { result: 1 } },
      { ...base, name: "result", approvals: { boss: "approve" }, expect: { result: 1 } },
      { ...base, name: "calls", expect: { error: "not", calls: [{ step: "price", args: { sku: "B" } }] } },
      { ...base, name: "no answer", steps: {}, expect: { result: 1 } },
      { ...base, name: "arguments", args: {}, expect: { result: 1 } },
    ]);
    expect(await faultsOf(folder)).toEqual([
      ["error", `${file}:16:28: RangeError: not bought`],
      ["result", expect.stringContaining("expected the result 1, found {")],
      [
        "calls",
        expect.stringMatching(/^call 1: expected .*"sku":"B".*, found step price \{"sku":"A"\} at .*buy\.ts:14:/),
      ],
      ["no answer", expect.stringMatching(/buy\.ts:14:\d+: the step price .* has no answer: add it to "steps"/)],
      ["arguments", expect.stringContaining("/sku: is required")],
    ]);
  });

  test("refuses an invalid case file with the field or the place", async () => {
    const wrong = await folderWith([{ name: "x", expct: {} }]);
    await expect(runTestFiles([wrong.folder])).rejects.toThrow(/buy\.test\.json: cases\.0\.expect: /);
    const broken = await folderWith([{ name: "x", expect: { result: 1 } }], "export const x = ;");
    await expect(runTestFiles([broken.folder])).rejects.toThrow(/buy\.ts:1:18: /);
    await expect(runTestFiles([await testFolder()])).rejects.toThrow(/has no test cases: add /);
  });
});
