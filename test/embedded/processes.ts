import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach } from "vitest";
import type { Addresses } from "#infra/embedded/addresses.ts";
import { startServices } from "#infra/embedded/index.ts";
import { isAlive, type Mark } from "#infra/embedded/mark.ts";
import { signalAll } from "#infra/embedded/supervise.ts";

const started: { stop: () => Promise<void> }[] = [];
const spawned: ChildProcess[] = [];
// An interrupted run leaves its workers to themselves, and they end without their exit hooks.
process.once("disconnect", () => {
  signalAll();
  process.kill(process.pid, "SIGKILL");
});
afterEach(async () => {
  for (const child of spawned.splice(0)) child.kill("SIGKILL");
  for (const services of started.splice(0)) await services.stop();
});

/** Starts services in this process, with the lines they told; ended after the test. */
export const startHere = async (folder: string) => {
  const lines: string[] = [];
  const services = await startServices({ DATA_DIR: folder }, (line) => lines.push(line));
  started.push(services);
  return { ...services, lines };
};

/** Starts a script of this folder and resolves with where its services are; killed after the test, and gone when this process goes. */
export const startApart = async (script: string, ...args: string[]) => {
  const env = { ...process.env, SVC_LAUNCHER: String(process.pid) };
  const file = join(import.meta.dirname, script);
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ["ignore", "pipe", "ignore", "ipc"] });
  spawned.push(child);
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for await (const line of createInterface(child.stdout!))
    return { child, gone, addresses: JSON.parse(line) as Addresses };
  throw new Error(`${script} ended before it told its addresses`);
};

/** The processes that the folder's pid files name, by service. */
export const servers = (folder: string): Record<string, Mark> => {
  const files = readdirSync(join(folder, "run")).filter((name) => name.endsWith(".pid"));
  const read = (name: string) => JSON.parse(readFileSync(join(folder, "run", name), "utf8")) as Mark;
  return Object.fromEntries(files.map((name) => [name.replace(/\.pid$/, ""), read(name)]));
};

/** The processes still alive. */
export const alive = (marks: Record<string, Mark>) => Object.keys(marks).filter((name) => isAlive(marks[name]!));
