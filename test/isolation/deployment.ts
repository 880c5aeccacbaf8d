import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "#infra/embedded/freePort.ts";
import type { Credentials } from "../../cli/organization.ts";
import { startServerWithUsers } from "../bus/users.ts";
import { afterFile } from "../cleanUp.ts";
import { LAUNCHER } from "../launcher.ts";
import { processEnv, testDeployment } from "../platform.ts";
import type { MonitorAnswer, MonitorRequest } from "./loopMonitor.ts";
import type { HeldCallback } from "./profile.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
const monitor = fileURLToPath(new URL("loopMonitor.ts", import.meta.url));
const READY_MS = 60_000;

export type IsolatedDeployment = Awaited<ReturnType<typeof startDeployment>>;

interface Options {
  env?: Record<string, string>;
  /** A process for each role, each with its own NATS user; otherwise all roles are in one process. */
  isApart?: boolean;
}

/** A process of the service, with the monitor of its event loop. Its memory is as the launcher lets it grow. */
function startProcess(role: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [...LAUNCHER.flags, "--import", monitor, main, role], {
    env: { ...LAUNCHER.env, ...env },
    // shows the last output of a process that ended
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  afterFile(() => child.kill("SIGKILL"));
  async function ask(request: MonitorRequest): Promise<MonitorAnswer> {
    const answer = once(child, "message");
    child.send(request);
    return (await answer)[0] as MonitorAnswer;
  }
  return { role, child, ask };
}

const endOf = ({ exitCode, signalCode }: ChildProcess): string | number | null => exitCode ?? signalCode;

async function readMemory({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

async function readStart({ pid }: ChildProcess): Promise<string[]> {
  const parts = ["cmdline", "environ"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8"));
  return (await Promise.all(parts)).flatMap((text) => text.split("\0"));
}

/** The environment of each process by role. */
async function planProcesses(port: number, env: Record<string, string>, isApart: boolean) {
  const shared = { ...processEnv(await testDeployment(), port), ...env };
  if (!isApart) return { settings: shared, processes: { all: shared }, urlOf: undefined };
  const { urlOf } = await startServerWithUsers();
  const settings = { ...shared, BUS_PREFIX: "svc", NATS_URL: urlOf("svc", "all") };
  const as = async (user: string, password: string) => ({
    ...settings,
    NATS_URL: urlOf(user, password),
    METRICS_PORT: String(await freePort()),
  });
  const processes = {
    projections: await as("projections", "p"),
    services: await as("services", "s"),
    http: await as("http", "h"),
  };
  return { settings, processes, urlOf };
}

/** The whole platform in processes of its own, so that an attack cannot slow the test's own event loop down. */
export async function startDeployment({ env = {}, isApart = false }: Options = {}) {
  const port = await freePort();
  const { settings, processes: planned, urlOf } = await planProcesses(port, env, isApart);
  const processes = Object.entries(planned).map(([role, own]) => startProcess(role, own));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url);

  const metricsUrl = (role: string, env: Record<string, string>): string =>
    ["all", "http"].includes(role) ? `${url}/metrics` : `http://127.0.0.1:${env["METRICS_PORT"]}/metrics`;

  async function runCommand(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env: settings });
    return stdout;
  }

  return {
    url,
    port,
    /** Address of the NATS for one of its users; undefined where all processes share one user. */
    urlOf,
    /** Watches the event loops of the service until `heldCallbacks`. */
    watchLoop: () => Promise.all(processes.map(({ ask }) => ask("start"))),
    /** The callbacks of all processes that computed for more than 20 ms since `watchLoop`, the longest first. */
    async heldCallbacks(): Promise<HeldCallback[]> {
      const answers = await Promise.all(processes.map(({ ask }) => ask("stop")));
      const callbacks = answers.flatMap((answer) => {
        if (!("callbacks" in answer)) throw new Error("the monitor does not answer");
        return answer.callbacks;
      });
      return callbacks.toSorted((a, b) => b.own_ms - a.own_ms);
    },
    /** Makes one of the processes run a callback that computes for this long. */
    hold(hold_ms: number, role = processes[0]!.role): void {
      processes.find((one) => one.role === role)!.child.send({ hold_ms } satisfies MonitorRequest);
    },
    /** The longest delay of the event loop of each process since it was last asked, in seconds: its own metric. */
    async longestDelays(): Promise<Record<string, number>> {
      const read = async ([role, env]: [string, Record<string, string>]) => {
        const text = await (await fetch(metricsUrl(role, env))).text();
        return [role, Number(/event_loop_delay_seconds\{quantile="1"\} (\S+)/.exec(text)?.[1])] as const;
      };
      return Object.fromEntries(await Promise.all(Object.entries<Record<string, string>>(planned).map(read)));
    },
    roles: processes.map(({ role }) => role),
    /** Creates an organization with a key and an owner. */
    organization: async (name: string): Promise<Credentials> =>
      JSON.parse(await runCommand("org", "create", name, "--json")) as Credentials,
    /** Creates the consumer of a listener to the feed of an organization. */
    addListener: (name: string, organization: string) => runCommand("feed", "add", name, organization),
    /** The arguments and the environment of each process, as the kernel knows them. */
    startedWith: () => Promise.all(processes.map(({ child }) => readStart(child))),
    /** Resident memory of the largest process now, in bytes. */
    memory: async (): Promise<number> =>
      Math.max(...(await Promise.all(processes.map(({ child }) => readMemory(child))))),
    /** The processes that have ended, with their code or signal. */
    ended: () => processes.flatMap(({ role, child }) => (endOf(child) === null ? [] : `${role}: ${endOf(child)}`)),
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
