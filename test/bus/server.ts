import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect as dial } from "node:net";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll } from "vitest";
import { natsBinary } from "#infra/embedded/natsBinary.ts";
import { freePort } from "#infra/embedded/port.ts";
import { testFolder } from "#test/harness.ts";

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = dial({ port, host: "127.0.0.1" });
    socket
      .once("data", () => resolve(true))
      .once("error", () => resolve(false))
      .once("close", () => resolve(false));
    socket.once("data", () => socket.destroy());
  });

const left: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of left) await end();
});

/** A NATS server of the test's own, to be killed, wiped and started again on the same port. */
export async function ownServer() {
  const folder = await testFolder();
  const binary = await natsBinary(join(folder, "runtime"), (line) => console.error(line));
  const port = await freePort();
  const store = join(folder, "store");
  let server: ChildProcess | undefined;
  const start = async () => {
    server = spawn(binary, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", store], { stdio: "ignore" });
    while (!(await answers(port))) await delay(20);
  };
  const kill = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  left.push(kill);
  await start();
  return { url: `nats://127.0.0.1:${port}`, start, kill, wipe: () => rm(store, { recursive: true, force: true }) };
}
