import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freePort } from "#infra/embedded/freePort.ts";
import { afterTest } from "../cleanUp.ts";
import { processEnv, testDeployment } from "../platform.ts";
import { childrenOf } from "../processes.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
/** Starts a process as svc.mjs does, and passes on no signal. */
const LAUNCHER = `
  const { spawn } = require("node:child_process");
  const env = { ...process.env, SVC_LAUNCHER: String(process.pid) };
  spawn(process.execPath, process.argv.slice(1), { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });`;

function endAfterTest(pid: number): void {
  afterTest(() => {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended
    }
  });
}

/** Starts an `http` process that logs its requests. Resolves when it runs. */
async function startLogging(before: string[], stdout: "pipe" | "ignore" | number) {
  const port = await freePort();
  const env = { ...processEnv(await testDeployment(), port), LOG_LEVEL: "info" };
  const child: ChildProcess = spawn(process.execPath, [...before, main, "http"], {
    env,
    stdio: ["ignore", stdout, "pipe"],
  });
  endAfterTest(child.pid!);
  const ended = once(child, "exit");
  let output = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stdout?.resume();
  await expect.poll(() => output).toContain("http is running");
  const ask = () => fetch(`http://127.0.0.1:${port}/api/usage`).then(({ status }) => status);
  return { child, ended, output: () => output, ask };
}

test("a service whose log nobody reads any more stops in order, with an exit code that makes a supervisor start it again", async () => {
  const { child, ended, output, ask } = await startLogging([], "pipe");
  child.stdout!.destroy();
  await ask().catch(() => {});
  expect(await ended).toEqual([1, null]);
  expect(output()).toContain("Stopping.");
});

test("a service whose log does not fit on its disk goes on", async () => {
  const full = openSync("/dev/full", "w");
  const { child, ended, ask } = await startLogging([], full);
  closeSync(full);
  expect([await ask(), await ask()]).toEqual([401, 401]);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test("a service on servers of its own stops when its launcher is killed", async () => {
  const { child, output } = await startLogging(["-e", LAUNCHER], "ignore");
  const [pid] = childrenOf(child.pid!);
  endAfterTest(pid!);
  const closed = once(child.stderr!, "close");
  child.kill("SIGKILL");
  await closed;
  expect(output()).toContain("Stopping.");
});
