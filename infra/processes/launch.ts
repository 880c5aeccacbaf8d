import { fork, type ChildProcess } from "node:child_process";
import { realpathSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

export interface Launch {
  /** Path of the program, absolute or from the project's root. */
  program: string;
  args?: string[];
  /** What it may read beside its program and the packages, from the project's root. */
  readable: string[];
  /** Largest heap of its main thread, in MiB. */
  heap: number;
  /** Whether it has a pipe beside its messages (descriptor PIPE), for bytes: 100 MB within a message hold up the sender for 300 ms. */
  pipe?: boolean;
  /** How far it gives way to others on a full machine: 0 is not at all; 5 by default. */
  nice?: number;
}

export const PIPE = 4;

/** Work for others gives way to answering. */
const NICE = 5;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const permissions = (paths: string[]): string[] =>
  [...new Set([...paths, ...paths.map((path) => realpathSync(path))])].map((path) => `--allow-fs-read=${path}`);

/** Starts a process for what is not trusted: it has no credentials, and may read programs and neither the data folder with its key nor anything else. */
export function launch({ program, args = [], readable, heap, pipe = false, nice = NICE }: Launch): ChildProcess {
  const path = program.startsWith("/") ? program : ROOT + program;
  const paths = [path, ...["package.json", "node_modules", "events", ...readable].map((each) => ROOT + each)];
  const child = fork(path, args, {
    cwd: tmpdir(),
    env: {},
    execArgv: [`--max-old-space-size=${heap}`, "--permission", "--allow-worker", ...permissions(paths)],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc", ...(pipe ? ["pipe" as const] : [])],
  });
  if (child.pid !== undefined) setPriority(child.pid, nice);
  return child;
}
