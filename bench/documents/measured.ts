import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

export interface Measured {
  ms: number;
  /** Most memory that it held at once, in MiB; null where there is no /proc. */
  peak_mib: number | null;
  output: string;
}

const LOOK_MS = 3;

const peakOf = (pid: number): number | null => {
  try {
    const [, kib] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s+(\d+)/m) ?? [];
    return kib === undefined ? null : Number(kib) / 1_024;
  } catch {
    return null;
  }
};

/** Runs a program to its end; undefined where it is not installed. Throws when it fails. */
export const measure = async (program: string, args: string[]): Promise<Measured | undefined> => {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  const said: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
  let peak: number | null = null;
  const looking = setInterval(() => (peak = peakOf(child.pid ?? 0) ?? peak), LOOK_MS);
  try {
    const [code] = (await once(child, "close")) as [number];
    const ms = performance.now() - start;
    if (code !== 0)
      throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${Buffer.concat(said).toString()}`);
    return { ms, peak_mib: peak, output: Buffer.concat(output).toString() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    clearInterval(looking);
  }
};
