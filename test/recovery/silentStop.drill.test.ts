import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { maxStopMs } from "../../roles/runRoles.ts";
import { startFaultProxy, throughProxy } from "../faultProxy.ts";
import { startProcess } from "../faults/processes.ts";
import { testDeployment } from "../platform.ts";

/** Open handles keep a process alive for a second, and a busy machine is slow. */
const SLACK_MS = 10_000;

test.each(["services", "http"] as const)(
  "a process of the role %s that is asked to end while PostgreSQL is silent ends in time",
  async (role) => {
    const deployment = await testDeployment();
    const { database_url } = deployment.addresses;
    const { hostname, port } = new URL(database_url);
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const running = await startProcess(role, deployment, { DATABASE_URL: throughProxy(database_url, proxy.port) });
    proxy.setAll("dropped");
    const began = performance.now();
    process.kill(running.pid, "SIGTERM");
    await sleep(1_000);
    // systemd signals the launcher, too, which passes its signal on
    process.kill(running.pid, "SIGTERM");
    const [code, signal] = await running.ended;
    expect([typeof code, signal]).toEqual(["number", null]);
    expect(performance.now() - began).toBeLessThan(maxStopMs([role]) + SLACK_MS);
  },
);
