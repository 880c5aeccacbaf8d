import { fork } from "node:child_process";
import { realpathSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { ScriptFailed, type ScriptHost } from "#services/scripting/runner.ts";
import { residentBytes } from "../readers/resident.ts";
import type { Order, Report } from "./messages.ts";

const LOOK_MS = 500;
/** A process that says nothing for so long is in a native operation that no interrupt reaches. */
const SILENT_MS = 5_000;
/** A VM may hold 64 MiB, and some of them run at once. */
const RESIDENT = 1_000_000_000;
const NICE = 5;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const READABLE = ["package.json", "node_modules", "events", "services/scripting", "infra/scripts", "roles/scripts.ts"];

const permissions = (): string[] => {
  const paths = READABLE.map((path) => ROOT + path);
  return [...new Set([...paths, ...paths.map((path) => realpathSync(path))])].map((path) => `--allow-fs-read=${path}`);
};

/** A run as its caller waits for it. */
export interface Waiting {
  host: ScriptHost;
  signal: AbortSignal;
  resolve(json: string): void;
  reject(error: unknown): void;
}

const LOST = "The process that ran the script was lost; the call may work when it is made again.";

/** A process that runs scripts, several at once, each in a VM of its own. It has no credentials and no files but its program. */
export function startChild() {
  const child = fork(`${ROOT}roles/scripts.ts`, [], {
    cwd: tmpdir(),
    env: {},
    execArgv: ["--max-old-space-size=256", "--permission", ...permissions()],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const waiting = new Map<number, Waiting>();
  let alive = true;
  let heard = Date.now();
  let ids = 0;
  const tell = (order: Order): void => void (alive && child.send(order, () => {}));
  const end = (): void => void child.kill("SIGKILL");

  const watch = setInterval(() => {
    if (waiting.size === 0) {
      heard = Date.now();
      return;
    }
    if (Date.now() - heard > SILENT_MS || residentBytes(child.pid ?? 0) > RESIDENT) end();
    else tell({ kind: "ping" });
  }, LOOK_MS);
  const gone = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  }).then(() => {
    alive = false;
    clearInterval(watch);
    for (const one of waiting.values()) one.reject(new ScriptFailed(LOST));
    waiting.clear();
  });
  if (child.pid !== undefined) setPriority(child.pid, NICE);

  async function serve({ id, ask, what, text }: Extract<Report, { kind: "ask" }>): Promise<void> {
    const one = waiting.get(id);
    if (!one) return;
    const answered = await (what === "fetch"
      ? one.host.fetch(JSON.parse(text), one.signal)
      : one.host.secret(text)
    ).then(
      (value) => ({ ok: true, text: JSON.stringify(value) }),
      (error: Error) => ({ ok: false, text: error.message }),
    );
    tell({ kind: "answer", id, ask, ...answered });
  }

  child.on("message", (report: Report) => {
    heard = Date.now();
    if (report.kind === "pong") return;
    if (report.kind === "ask") return void serve(report);
    const one = waiting.get(report.id);
    waiting.delete(report.id);
    if (report.kind === "done") one?.resolve(report.json);
    else one?.reject(new ScriptFailed(report.message, report.line));
  });

  return {
    gone,
    end,
    isAlive: () => alive,
    running: () => waiting.size,
    order(order: { kind: "inspect"; js: string } | { kind: "run"; js: string; input: string }, one: Waiting): void {
      const id = ids++;
      if (waiting.size === 0) heard = Date.now();
      waiting.set(id, one);
      one.signal.addEventListener(
        "abort",
        () => {
          if (!waiting.delete(id)) return;
          tell({ kind: "cancel", id });
          one.reject(one.signal.reason);
        },
        { once: true },
      );
      tell({ ...order, id });
    },
  };
}

export type Child = ReturnType<typeof startChild>;
