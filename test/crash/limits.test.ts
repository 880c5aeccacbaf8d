import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { limitResource } from "../../dev/crash/faults/limits.ts";

const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

async function startProcess(): Promise<number> {
  const child = spawn("/bin/cat", { stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  children.push(child);
  return child.pid!;
}

async function startAndKill(): Promise<number> {
  const pid = await startProcess();
  const child = children.at(-1)!;
  child.kill("SIGKILL");
  await once(child, "exit");
  return pid;
}

const handleLimit = (pid: number): string =>
  /^Max open files\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))![1]!;

test("a fault of file handles limits the running processes, despite one that was killed meanwhile, and lifts the limit at its end", async () => {
  const pids = [await startAndKill(), await startProcess()];
  const before = handleLimit(pids[1]!);
  const isOver = limitResource(async () => pids, "handles", 300);
  await expect.poll(() => handleLimit(pids[1]!)).toBe(String(readdirSync(`/proc/${pids[1]}/fd`).length));
  await isOver;
  expect(handleLimit(pids[1]!)).toBe(before);
});

test.each(["handles", "memory"] as const)("a fault of %s ends at once if its only process was killed", async (what) => {
  const pid = await startAndKill();
  await expect(limitResource(async () => [pid], what, 60_000)).resolves.toBeUndefined();
});
