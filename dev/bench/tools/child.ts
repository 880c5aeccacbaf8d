import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that the bench started and stops. */
export interface Child {
  pid: number;
  /** The first line that it prints. */
  firstLine(): Promise<string>;
  /** Resident memory of the process and of its Node descendants, in MiB; null where there is no /proc. */
  memory(): number | null;
  /** Throws an error with its last output when the process has ended. */
  assertAlive(): void;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill()));

/** Runs a script with the Node that runs the bench. */
export const startNode = (args: string[], env: Record<string, string> = {}): Child => {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let printed = "";
  const keep = (chunk: Buffer): void => {
    printed = `${printed}${chunk.toString()}`.slice(-20_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const assertAlive = (): void => {
    if (hasEnded(child))
      throw new Error(`${args.join(" ")} ended with ${child.exitCode ?? child.signalCode}:\n${printed}`);
  };
  return {
    pid: child.pid ?? 0,
    async firstLine() {
      while (!printed.includes("\n")) {
        assertAlive();
        await sleep(10);
      }
      return printed.slice(0, printed.indexOf("\n"));
    },
    memory: () => (child.pid === undefined ? null : residentMemory(child.pid)),
    assertAlive,
    async stop() {
      if (hasEnded(child)) return;
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    },
  };
};

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
};

const residentMemory = (root: number): number | null => {
  const parents = new Map<number, number>();
  try {
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const parent = readField(name, "PPid");
      if (parent !== undefined) parents.set(Number(name), parent);
    }
  } catch {
    return null;
  }
  const isDescendant = (pid: number): boolean => {
    const parent = parents.get(pid);
    return pid === root || (parent !== undefined && isDescendant(parent));
  };
  const nodes = [...parents.keys()].filter((pid) => isDescendant(pid) && isNode(pid));
  return nodes.reduce((sum, pid) => sum + (readField(String(pid), "VmRSS") ?? 0), 0) / 1024;
};

const isNode = (pid: number): boolean => {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === "node";
  } catch {
    return false;
  }
};

/** A number from /proc/PID/status; undefined when the process has ended in the meantime. */
const readField = (pid: string, name: string): number | undefined => {
  try {
    const [, value] = readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${name}:\\s+(\\d+)`, "m")) ?? [];
    return value === undefined ? undefined : Number(value);
  } catch {
    return undefined;
  }
};
