import { afterEach, expect, test } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import { TickLost, type MemoEntry } from "#services/workflows/tick.ts";
import { childrenOf, isRunning } from "../processes.ts";
import { answersTo, tickCallFor, moduleWithRun, runThrough } from "./workflowCalls.ts";

/* A thread keeps the history of a run and receives only new entries. The outcome of a tick must not depend on that. */

const opened: ReturnType<typeof openWorkflows>[] = [];
afterEach(() => Promise.all(opened.splice(0).map((runner) => runner.close())));
function open(processes = 1) {
  const runner = openWorkflows({ processes });
  opened.push(runner);
  return runner;
}
const children = (): number[] => childrenOf(process.pid).filter((pid) => isRunning(pid, /workflowScripts\.ts\0ticks/));
/** Processes of the platform that files of this worker share. */
const others = new Set(children());
/** Child processes of the test that run ticks. */
const tickProcesses = (): number[] => children().filter((pid) => !others.has(pid));

const SUM = moduleWithRun(
  "let sum = 0; for (let n = 0; n < args.steps; n++) sum += await runStep('a', { n }); return sum",
);

test("a growing memo gives the correct results while other runs tick in between", async () => {
  const runner = open();
  const runs = Array.from({ length: 6 }, (_, n) =>
    runThrough(runner, tickCallFor(SUM, { args: `{"steps":${n}}` }), () => 10),
  );
  const ends = (await Promise.all(runs)).map((outcomes) => outcomes.at(-1)!.end);
  expect(ends).toEqual(
    [0, 10, 20, 30, 40, 50].map((sum) => ({ type: "completed", completion: "implicit", json: String(sum) })),
  );
  expect((await runs[5]!).map(({ pending }) => pending.length)).toEqual([1, 1, 1, 1, 1, 0]);
});

test("another memo array counts as another history, whether it is longer or shorter", async () => {
  const runner = open();
  const call = tickCallFor(SUM, { args: '{"steps":3}' });
  const memo: MemoEntry[] = [];
  const keys: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { pending } = await runner.tick({ ...call, memo });
    memo.push(...answersTo(pending, () => n));
    keys.push(memo.at(-1)!.key);
  }
  expect((await runner.tick({ ...call, memo })).end).toMatchObject({ json: "3" });
  const others = memo.map(({ key }) => ({ key, value: { json: "100" } }));
  expect((await runner.tick({ ...call, memo: others })).end).toMatchObject({ json: "300" });
  const fewer = await runner.tick({ ...call, memo: memo.slice(0, 1) });
  expect(fewer.pending).toMatchObject([{ steps: [{ key: keys[1] }] }]);
  expect((await runner.tick({ ...call, memo: [] })).pending).toMatchObject([{ steps: [{ key: keys[0] }] }]);
});

test("a run that the thread forgot sends its whole memo again", async () => {
  const runner = open();
  const call = tickCallFor(SUM, { args: '{"steps":2}' });
  const memo = answersTo((await runner.tick(call)).pending, () => 1);
  for (let n = 0; n < 2; n++) {
    const { pending } = await runner.tick({ ...call, memo });
    expect(pending).toHaveLength(1);
    runner.forget(call.run_id);
    runner.forget("a run that nobody knows");
  }
});

test("a run continues in a new process with its whole memo after its process was killed", async () => {
  const runner = open();
  const call = tickCallFor(SUM, { args: '{"steps":2}' });
  const memo = answersTo((await runner.tick(call)).pending, () => 1);
  await runner.tick({ ...call, memo });
  const before = tickProcesses();
  expect(before).toHaveLength(1);
  process.kill(before[0]!, "SIGKILL");
  // a tick in flight is lost, and its caller retries it
  const again = () => runner.tick({ ...call, memo });
  const outcome = await again().catch((error: unknown) => {
    expect(error).toBeInstanceOf(TickLost);
    return again();
  });
  expect(outcome.pending).toHaveLength(1);
  memo.push(...answersTo(outcome.pending, () => 1));
  expect((await again()).end).toMatchObject({ json: "2" });
});

test("a thread requests a memo again that did not fit into its cache", async () => {
  const runner = open();
  // a letter counts as 2 bytes: three such memos are more than a thread keeps
  const large: MemoEntry[] = Array.from({ length: 16 }, (_, n) => ({
    key: `unused-${n}`,
    value: { json: JSON.stringify("x".repeat(1_000_000)) },
  }));
  const runs = Array.from({ length: 3 }, () => ({ call: tickCallFor(SUM, { args: '{"steps":2}' }), memo: [...large] }));
  for (let round = 0; round < 2; round++)
    for (const { call, memo } of runs) {
      const { pending, unusedKeys } = await runner.tick({ ...call, memo });
      expect(unusedKeys).toHaveLength(16);
      memo.push(...answersTo(pending, () => 1));
    }
  for (const { call, memo } of runs) expect((await runner.tick({ ...call, memo })).end).toMatchObject({ json: "2" });
});

test("a thread requests each script that it does not have", async () => {
  const runner = open();
  const scripts = Array.from({ length: 40 }, (_, n) => moduleWithRun(`return ${n}`));
  for (let round = 0; round < 2; round++) {
    const ends = await Promise.all(scripts.map((js) => runner.tick(tickCallFor(js))));
    expect(ends.map(({ end }) => (end as { json: string }).json)).toEqual(scripts.map((_, n) => String(n)));
  }
});

test("a closed runner runs no tick", async () => {
  const runner = openWorkflows({ processes: 1 });
  await runner.tick(tickCallFor(moduleWithRun("return 1")));
  const waiting = runner.tick(tickCallFor(moduleWithRun("for (;;) {}")));
  const ended = expect(waiting).rejects.toThrow();
  await runner.close();
  await ended;
  expect(tickProcesses()).toEqual([]);
  await expect(runner.tick(tickCallFor(moduleWithRun("return 1")))).rejects.toThrow("closed");
});
