import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

export interface ProgramRun {
  ms: number;
  /** Peak resident memory in MiB; null where there is no /proc. */
  peak_mib: number | null;
  output: string;
}

const SAMPLE_MS = 3;

const readPeak = (pid: number): number | null => {
  try {
    const [, kib] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s+(\d+)/m) ?? [];
    return kib === undefined ? null : Number(kib) / 1_024;
  } catch {
    return null;
  }
};

/** Runs a program until it exits; undefined when it is not installed. Throws when it fails. */
export const runProgram = async (program: string, args: string[]): Promise<ProgramRun | undefined> => {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  let peak: number | null = null;
  const sampling = setInterval(() => (peak = readPeak(child.pid ?? 0) ?? peak), SAMPLE_MS);
  try {
    const [code] = (await once(child, "close")) as [number];
    const ms = performance.now() - start;
    if (code !== 0)
      throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${Buffer.concat(errors).toString()}`);
    return { ms, peak_mib: peak, output: Buffer.concat(output).toString() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    clearInterval(sampling);
  }
};
