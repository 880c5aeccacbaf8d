import { execFile } from "node:child_process";
import { promisify } from "node:util";

interface Entry {
  pid: number;
  ppid: number;
  args: string;
}

async function listProcesses(): Promise<Entry[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, ppid, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return args === undefined ? [] : [{ pid: Number(pid), ppid: Number(ppid), args }];
  });
}

/** Current pids of the script processes of these processes. */
export async function findScriptProcesses(parents: number[]): Promise<number[]> {
  const all = await listProcesses();
  return all
    .filter(({ ppid, args }) => /roles\/(scripts|workflowScripts)\.ts/.test(args) && parents.includes(ppid))
    .map(({ pid }) => pid);
}

/** Current pids of the children of a process. */
export const findChildren = async (parent: number): Promise<number[]> =>
  (await listProcesses()).filter(({ ppid }) => ppid === parent).map(({ pid }) => pid);

/** False if the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
export const kill = (pid: number | undefined): boolean => pid !== undefined && signal(pid, "SIGKILL");
