import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "#infra/embedded/freePort.ts";
import type { Credentials } from "../../cli/organization.ts";
import { afterFile } from "../cleanUp.ts";
import { processEnv, testDeployment } from "../platform.ts";
import type { MonitorAnswer, MonitorRequest } from "./loopMonitor.ts";
import type { HeldCallback } from "./profile.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
const monitor = fileURLToPath(new URL("loopMonitor.ts", import.meta.url));
const READY_MS = 60_000;

export type IsolatedDeployment = Awaited<ReturnType<typeof startDeployment>>;

/** The whole platform in one process of its own, so that an attack cannot slow the test's own event loop down. */
export async function startDeployment(env: Record<string, string> = {}) {
  const port = await freePort();
  const settings = { ...processEnv(await testDeployment(), port), ...env };
  const child = spawn(process.execPath, ["--import", monitor, main, "all"], {
    env: settings,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  afterFile(() => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url);

  async function ask(request: MonitorRequest): Promise<MonitorAnswer> {
    const answer = once(child, "message");
    child.send(request);
    return (await answer)[0] as MonitorAnswer;
  }

  return {
    url,
    port,
    /** Watches the service's event loop until `heldCallbacks`. */
    watchLoop: () => ask("start"),
    /** The callbacks of the service that computed for more than 20 ms since `watchLoop`, the longest first. */
    async heldCallbacks(): Promise<HeldCallback[]> {
      const answer = await ask("stop");
      if (!("callbacks" in answer)) throw new Error("the monitor does not answer");
      return answer.callbacks.toSorted((a, b) => b.own_ms - a.own_ms);
    },
    /** Plants a callback that computes for so long. */
    hold: (hold_ms: number) => child.send({ hold_ms } satisfies MonitorRequest),
    /** Creates an organization with a key and an owner. */
    async organization(name: string): Promise<Credentials> {
      const args = [main, "org", "create", name, "--json"];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env: settings });
      return JSON.parse(stdout) as Credentials;
    },
    /** Resident memory of the service's process now, in bytes. */
    async memory(): Promise<number> {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
  };
}

async function waitUntilReady(url: string): Promise<void> {
  const end = Date.now() + READY_MS;
  while (Date.now() < end) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`the service at ${url} is not ready after ${READY_MS} ms`);
}
