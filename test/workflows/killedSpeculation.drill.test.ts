import { expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { RunEvent } from "#events/run.ts";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openTenant, SOON, workflowSource } from "./harness.ts";

/* A process is killed in the middle of runs whose steps ask nothing: what it had noted and not recorded is lost. */

const STEPS = 1_200;
const RUNS = 4;

const deployment = await testDeployment();
const startServices = () => startProcess("services", deployment);
const services = await startServices();
const platform = await startPlatform({ roles: ["http", "projections"], deployment });
const home = await openTenant(platform.url, await platform.organization("Home"));

const eventsOf = async (run: string) =>
  (await platform.resources.log.read(streamName("run", run))) as RecordedEvent<RunEvent>[];
const versionOf = async (run: string): Promise<number> => {
  const stream = streamName("run", run);
  return (await platform.resources.log.heads([stream])).get(stream)?.version ?? 0;
};

test("runs of speculated steps whose process was killed continue from the recorded state, and are complete", async () => {
  const source = workflowSource(
    `let sum = 0;
    const drawn = [];
    for (let n = 1; n <= args.steps; n++) {
      const chance = Math.floor(Math.random() * 1e6);
      if (n % 100 === 0) { drawn.push([ctx.now("t" + n), ctx.uuid("u" + n), chance]); ctx.log("at", n); }
      sum = await ctx.runStep("add", { n, sum, chance, drawn: drawn.at(-1) ?? null });
    }
    return ctx.complete({ sum, drawn });`,
    "add: ({ n, sum }) => sum + n,",
  );
  const workflow = await home.register(source, { limits: { max_steps: STEPS } });
  const runs = await Promise.all(Array.from({ length: RUNS }, () => home.start(workflow, { steps: STEPS })));
  for (const run of runs) await expect.poll(() => versionOf(run), SOON).toBeGreaterThan(300);
  services.kill();
  const [before] = await Promise.all([Promise.all(runs.map(eventsOf)), startServices()]);
  const isOver = (events: RecordedEvent<RunEvent>[]): boolean => events.at(-1)!.type === "RunCompleted";
  // some of them were still running
  expect(before.filter((events) => !isOver(events)).length).toBeGreaterThan(0);

  for (const [n, run] of runs.entries()) {
    const { status, result, steps, counts, logs } = await home.untilOver(run);
    expect([status, result.sum]).toEqual(["completed", (STEPS * (STEPS + 1)) / 2]);
    const events = await eventsOf(run);
    // the recorded events are unchanged
    expect(events.slice(0, before[n]!.length)).toEqual(before[n]);
    const ended = events.flatMap((event) =>
      event.type === "StepCompleted" ? [(event.data as { key: string }).key] : [],
    );
    expect([ended.length, new Set(ended).size]).toEqual([STEPS, STEPS]);
    // run() drew what it drew before: its steps would be others else
    expect(counts.steps).toBe(STEPS);
    expect(logs.map(({ text }: any) => text)).toEqual(Array.from({ length: 12 }, (_, at) => `at ${(at + 1) * 100}`));
    expect(steps.findLast(({ args }: any) => args.drawn)!.args.drawn).toEqual(result.drawn.at(-1));
    const lost = steps.flatMap(({ attempts }: any) => attempts).filter(({ status: of }: any) => of === "lost");
    expect(lost.length).toBeLessThanOrEqual(1);
    expect(counts.attempts).toBe(STEPS + lost.length);
    const times = steps.flatMap(({ scheduled_at, completed_at }: any) => [scheduled_at, completed_at]);
    expect(times.toSorted()).toEqual(times);
  }
});

test("a run whose speculated results need too much memory fails like a run whose steps use the platform", async () => {
  await home.secret("often", "often-told-secret");
  const run = "let last; for (let n = 1; n <= args.steps; n++) last = await ctx.runStep('big', { n });";
  const speculated = "big: ({ n }) => String(n).padStart(900_000, '.'),";
  const recorded = speculated.replace("({ n }) =>", "async ({ n }, ctx) => await ctx.secrets.get('often') &&");
  const [one, other] = await Promise.all(
    [speculated, recorded].map(async (steps) => {
      const workflow = await home.register(workflowSource(run, steps), { secrets: ["often"] });
      return home.untilOver(await home.start(workflow, { steps: 60 }), 90_000);
    }),
  );
  expect([one.status, one.error_info.code]).toEqual(["failed", "out_of_memory"]);
  expect([one.status, one.error_info, one.counts]).toEqual([other.status, other.error_info, other.counts]);
});
