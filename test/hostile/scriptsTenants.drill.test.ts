import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import type { ScriptCall, ScriptRunner } from "#services/scripting/runner.ts";
import { childrenOf, isRunning, residentMb } from "../processes.ts";

vi.setConfig({ testTimeout: 120_000 });

const opened: ScriptRunner[] = [];
afterAll(() => Promise.all(opened.map((runner) => runner.close())));
function open(): ScriptRunner {
  const runner = openScripts({ processes: 2, cpu_ms: 200 });
  opened.push(runner);
  return runner;
}

const call = (organization_id: string, body: string, args: unknown = {}): ScriptCall => ({
  organization_id,
  js: `export async function execute(args, { fetch }) { ${body} }`,
  args,
  meta: {},
  host: {
    fetch: async () => ({ status: 200, headers: [], body: "hello" }),
    secret: () => Promise.reject(new Error("none")),
  },
  signal: new AbortController().signal,
});

const isScripts = (pid: number): boolean => isRunning(pid, /roles\/scripts\.ts/);

const HOSTILE = [
  "for (;;) {}",
  "const all = []; for (;;) all.push(new Array(1e5).fill(1))",
  "return 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
  "return 'x'.repeat(2e6)",
  "throw { get message() { for (;;) {} } }",
  "for (;;) fetch('x')",
];

test("one hostile tenant among twenty does not affect the others", async () => {
  const runner = open();
  const harm = Array.from({ length: 12 }, (_, n) => runner.run(call("hostile", HOSTILE[n % HOSTILE.length]!)));
  const harmed = Promise.allSettled(harm);
  const work = Array.from({ length: 19 * 5 }, async (_, n) => {
    const body = "const answer = await fetch('x'); return [args.n, await answer.text()]";
    return JSON.parse(await runner.run(call(`tenant-${n % 19}`, body, { n })));
  });
  expect(await Promise.all(work)).toEqual(Array.from({ length: 19 * 5 }, (_, n) => [n, "hello"]));
  expect((await harmed).map(({ status }) => status)).toEqual(Array(12).fill("rejected"));
  const children = childrenOf(process.pid).filter(isScripts);
  expect(children.length).toBeGreaterThan(0);
  for (const pid of children) expect(residentMb(pid)).toBeLessThan(1_000);
});

test("the processes of a runner end when it is closed", async () => {
  const runner = openScripts({ processes: 1 });
  const before = new Set(childrenOf(process.pid));
  expect(await runner.run(call("o1", "return 1"))).toBe("1");
  const pids = childrenOf(process.pid).filter((pid) => !before.has(pid) && isScripts(pid));
  expect(pids).toHaveLength(1);
  const stuck = runner.run(call("o1", "for (;;) {}"));
  const ended = expect(stuck).rejects.toThrow();
  await runner.close();
  await ended;
  expect(isScripts(pids[0]!)).toBe(false);
  await expect(runner.run(call("o1", "return 1"))).rejects.toThrow("closed");
});

test("the processes of a runner end when its own process is killed", async () => {
  const parent = fork(new URL("./scriptsParent.ts", import.meta.url), { execArgv: [] });
  await once(parent, "message");
  const pids = childrenOf(parent.pid!).filter(isScripts);
  expect(pids).toHaveLength(1);
  parent.kill("SIGKILL");
  while (isScripts(pids[0]!)) await wait(20);
});

test("a queued call can be aborted", async () => {
  const runner = open();
  const busy = Array.from({ length: 8 }, () => runner.run(call("o1", "for (;;) {}")));
  const harmed = Promise.allSettled(busy);
  const aborter = new AbortController();
  const waiting = runner.run({ ...call("o1", "return 1"), signal: aborter.signal });
  aborter.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
  await harmed;
  expect(await runner.run(call("o1", "return 2"))).toBe("2");
});
