import { fork } from "node:child_process";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { UnreadableFile } from "#services/reading/reader.ts";
import type { Answer, Outcome, Request } from "./messages.ts";
import { residentBytes } from "./resident.ts";

export interface Limits {
  deadline_ms: number;
  /** Bytes of memory at which a reading process is killed. */
  resident: number;
}

/** The process was gone before the request had arrived: nothing is known of the file. */
export class NotStarted extends Error {
  override name = "NotStarted";
}

const LOOK_MS = 250;
/** Reading gives way to answering. */
const NICE = 5;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What a reading process may read: programs, and neither the data folder with its key nor anything else. */
const READABLE = ["package.json", "node_modules", "events", "services", "infra/readers", "roles/reader.ts"];

const permissions = (program: string): string[] => {
  const paths = [...READABLE.map((path) => ROOT + path), program];
  return [...new Set([...paths, ...paths.map((path) => realpathSync(path))])].map((path) => `--allow-fs-read=${path}`);
};

const launch = (program: string) =>
  fork(program, [], {
    cwd: tmpdir(),
    env: {},
    execArgv: ["--max-old-space-size=1024", "--permission", "--allow-worker", ...permissions(program)],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });

/** A process that reads one file at a time. */
export const startChild = (program: string) => {
  const process = launch(program);
  let alive = true;
  const gone = new Promise<void>((resolve) => {
    process.once("error", () => resolve());
    process.once("exit", () => resolve());
  }).then(() => void (alive = false));
  if (process.pid !== undefined) setPriority(process.pid, NICE);
  let files = 0;

  const next = async (): Promise<Answer | undefined> => {
    const heard = new AbortController();
    const message = once(process, "message", { signal: heard.signal }).then(([answer]) => answer as Answer);
    message.catch(() => {});
    return Promise.race([message, gone.then(() => undefined)]).finally(() => heard.abort());
  };

  const converse = async (request: Request): Promise<Outcome | undefined> => {
    process.send(request, () => {});
    const started = await next();
    if (!started) throw new NotStarted("A reading process ended before it began to read");
    return (await next()) as Outcome | undefined;
  };

  return {
    gone,
    isAlive: () => alive,
    /** Files that it was given. */
    files: () => files,
    end: () => void process.kill("SIGKILL"),
    /** Throws UnreadableFile when the process does not survive the request, NotStarted when it never got it. */
    async ask(request: Request, { deadline_ms, resident }: Limits): Promise<Outcome> {
      files += 1;
      let why = "The file is too large or too complex to be read.";
      const deadline = setTimeout(() => {
        why = `Reading the file took longer than ${deadline_ms / 1_000} seconds.`;
        process.kill("SIGKILL");
      }, deadline_ms);
      const watch = setInterval(() => {
        if (residentBytes(process.pid ?? 0) > resident) process.kill("SIGKILL");
      }, LOOK_MS);
      try {
        const outcome = await converse(request);
        if (!outcome) throw new UnreadableFile(why);
        return outcome;
      } finally {
        clearTimeout(deadline);
        clearInterval(watch);
      }
    },
  };
};

export type Child = ReturnType<typeof startChild>;
