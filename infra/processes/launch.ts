import { fork, type ChildProcess } from "node:child_process";
import { realpathSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

export interface LaunchOptions {
  /** Path of the program, absolute or relative to the project's root. */
  program: string;
  args?: string[];
  /** Paths that it may read besides its program and the packages, relative to the project's root. */
  readable: string[];
  /** Maximum heap of its main thread, in MiB. */
  heap: number;
  /** Adds a pipe for bytes (descriptor PIPE), because a message of 100 MB blocks its sender for 300 ms. */
  pipe?: boolean;
  /** Scheduling priority, from 0 (normal) to 19 (lowest); 5 by default. */
  nice?: number;
}

export const PIPE = 4;

/** Foreign work has a lower priority than answering requests. */
const DEFAULT_NICE = 5;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const readPermissions = (paths: string[]): string[] =>
  [...new Set([...paths, ...paths.map((path) => realpathSync(path))])].map((path) => `--allow-fs-read=${path}`);

/**
 * Starts a process for untrusted work. Its environment is empty, and it may read programs but nothing else: neither the data folder
 * with the master key nor any other file.
 */
export function launch({
  program,
  args = [],
  readable,
  heap,
  pipe = false,
  nice = DEFAULT_NICE,
}: LaunchOptions): ChildProcess {
  const path = program.startsWith("/") ? program : ROOT + program;
  const paths = [path, ...["package.json", "node_modules", "events", ...readable].map((each) => ROOT + each)];
  const child = fork(path, args, {
    cwd: tmpdir(),
    env: {},
    execArgv: [`--max-old-space-size=${heap}`, "--permission", "--allow-worker", ...readPermissions(paths)],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc", ...(pipe ? ["pipe" as const] : [])],
  });
  if (child.pid !== undefined) setPriority(child.pid, nice);
  return child;
}
