import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Pids of the processes that run scripts for these, as they are now. */
export async function scriptRunners(parents: number[]): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, ppid, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return args?.match(/roles\/(scripts|workflowScripts)\.ts/) && parents.includes(Number(ppid)) ? [Number(pid)] : [];
  });
}
