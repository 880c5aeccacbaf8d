import { expect, test } from "vitest";
import { openWorkflows, workflowSource } from "./harness.ts";

/* A tenant whose workflows mean harm, beside one that wants its work done. */

/** Runs forever in native code, which no interrupt stops. */
const NATIVE = `'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')`;
const MEMORY = `const all = []; for (;;) all.push(new Array(1e4).fill(all.length));`;
const LOOP = `for (;;) {}`;

/** A run whose every tick kills its thread. It is started first, because it takes longest. */
const w = await openWorkflows();
const hostile = await w.join("Hostile");
const poison = await hostile.start(await hostile.register(workflowSource(`return ${NATIVE};`)));

const WORK = workflowSource(
  `const sums = await ctx.runStepMany("add", [1, 2, 3].map((n) => ({ n, of: args.of })));
  return sums.reduce((sum, one) => sum + one, 0);`,
  `add: async ({ n, of }) => n + of`,
);

test("hostile code in run() and in steps ends only its own runs, while another tenant's runs complete", async () => {
  const { home } = w;
  const inRun = [LOOP, MEMORY];
  const inStep = [MEMORY, NATIVE];
  const step = (body: string) =>
    workflowSource(`await ctx.runStep("bomb", {});`, `bomb: defineStep({ retries: 0 }, async (_, ctx) => { ${body} })`);
  const bombs = await Promise.all(
    [...inRun.map((body) => workflowSource(body)), ...inStep.map(step)].map(async (source) =>
      hostile.start(await hostile.register(source)),
    ),
  );
  const workflow = await home.register(WORK);
  const runs = await Promise.all(Array.from({ length: 20 }, (_, of) => home.start(workflow, { of })));
  const done = await Promise.all(runs.map((run) => home.untilOver(run)));
  expect(done.map(({ status, result }) => [status, result])).toEqual(runs.map((_, of) => ["completed", 6 + 3 * of]));

  const ended = await Promise.all(bombs.map((run) => hostile.untilOver(run, 60_000)));
  expect(ended.map(({ status }) => status)).toEqual(bombs.map(() => "failed"));
  const over = expect.toBeOneOf(["out_of_memory", "run_timeout", "step_error", "step_limit"]);
  expect(ended.map(({ error_info }) => error_info.code)).toEqual(["run_timeout", over, over, "step_limit"]);
  for (const { error } of ended) expect(error).toMatch(/\S/);
});

test("a tenant's globals and memory are gone before the next tenant's code runs", async () => {
  const { home } = w;
  const spoil = (more: string) =>
    workflowSource(
      `${more}
      globalThis.left = "behind";
      Object.prototype.left = "behind";
      Array.prototype.map = () => ["spoilt"];
      Promise.prototype.then = JSON.parse = JSON.stringify = undefined;
      return 1;`,
      `add: () => 1, spoil: () => { globalThis.left = "behind"; Object.prototype.left = "behind"; ${more} return 1; }`,
    );
  const large = `const big = []; for (let n = 0; n < 12; n++) big.push("x".repeat(1e6) + n);`;
  const looks = workflowSource(
    `const step = await ctx.runStep("look", { n: args.n });
    return [globalThis.left ?? null, ({}).left ?? null, [1].map((n) => n + 1)[0], step];`,
    `look: () => [globalThis.left ?? null, ({}).left ?? null]`,
  );
  const spoils = await Promise.all(["", large].map((more) => hostile.register(spoil(more))));
  const look = await home.register(looks);
  for (let n = 0; n < 6; n++) {
    await hostile.untilOver(await hostile.start(spoils[n % 2]));
    const { status, result } = await home.untilOver(await home.start(look, { n }));
    expect([status, result]).toEqual(["completed", [null, null, 2, [null, null]]]);
  }
});

test("a run that kills the process of each tick fails after three crashes and delays no other run", async () => {
  const record = await hostile.untilOver(poison, 100_000);
  expect([record.status, record.error_info.code]).toEqual(["failed", "tick_broken"]);
  expect(record.started_at).toBeNull();
  expect((await hostile.run(WORK, { of: 1 })).result).toBe(9);
});
