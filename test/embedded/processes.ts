import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Addresses } from "#infra/embedded/addresses.ts";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { isAlive, type ProcessIdentity } from "#infra/embedded/processIdentity.ts";
import { signalAll } from "#infra/embedded/supervise.ts";
import { afterTest } from "#test/cleanUp.ts";

// When a test run is interrupted, its workers are disconnected and would end without their exit hooks.
process.once("disconnect", () => {
  signalAll();
  process.kill(process.pid, "SIGKILL");
});

/** Starts servers in this process, and collects their messages; stopped after the test. */
export const startInProcess = async (folder: string) => {
  const lines: string[] = [];
  const services = await startEmbeddedServers({ DATA_DIR: folder }, (line) => lines.push(line));
  afterTest(services.stop);
  return { ...services, lines };
};

/** Starts a script of this folder and resolves with its servers' addresses. It is killed after the test, and ends with this process. */
export const startScript = async (script: string, ...args: string[]) => {
  const env = { ...process.env, SVC_LAUNCHER: String(process.pid) };
  const file = join(import.meta.dirname, script);
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ["ignore", "pipe", "ignore", "ipc"] });
  afterTest(() => child.kill("SIGKILL"));
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for await (const line of createInterface(child.stdout!))
    return { child, gone, addresses: JSON.parse(line) as Addresses };
  throw new Error(`${script} ended before it printed its addresses`);
};

/** The processes in the folder's pid files, by server. */
export const servers = (folder: string): Record<string, ProcessIdentity> => {
  const files = readdirSync(join(folder, "run")).filter((name) => name.endsWith(".pid"));
  const read = (name: string) => JSON.parse(readFileSync(join(folder, "run", name), "utf8")) as ProcessIdentity;
  return Object.fromEntries(files.map((name) => [name.replace(/\.pid$/, ""), read(name)]));
};

/** The processes still alive. */
export const alive = (identities: Record<string, ProcessIdentity>) =>
  Object.keys(identities).filter((name) => isAlive(identities[name]!));
