import { z } from "zod";
import { ScriptFailed, type ScriptHost } from "#services/scripting/runner.ts";
import { launch } from "../processes/launch.ts";
import { residentBytes } from "../readers/resident.ts";
import type { Order, Report } from "./messages.ts";

const LOOK_MS = 500;
/** A VM may hold 64 MiB, and some of them run at once. */
const RESIDENT = 1_000_000_000;

/** A run as its caller waits for it. */
export interface Waiting {
  host: ScriptHost;
  signal: AbortSignal;
  resolve(json: string): void;
  reject(error: unknown): void;
}

/** A run under way; what its script asked for ends with it. */
interface Run extends Waiting {
  ended: AbortController;
}

const Asked = z.object({
  url: z.string(),
  method: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().nullable(),
});

const LOST = "The process that ran the script was lost; the call may work when it is made again.";

async function answerTo({ host, signal, ended }: Run, what: "fetch" | "secret", text: string): Promise<unknown> {
  if (what === "secret") return host.secret(text);
  return host.fetch(Asked.parse(JSON.parse(text)), AbortSignal.any([signal, ended.signal]));
}

/** A process that runs scripts, several at once, each in a VM of its own. It has no credentials and no files but its program. */
export function startChild(cpu_ms: number) {
  const child = launch({
    program: "roles/scripts.ts",
    args: [String(cpu_ms)],
    readable: ["services/scripting", "infra/scripts"],
    heap: 128,
  });
  const runs = new Map<number, Run>();
  let alive = true;
  let ids = 0;
  const tell = (order: Order): void => void (alive && child.send(order, () => {}));
  const end = (): void => {
    alive = false;
    child.kill("SIGKILL");
  };
  const take = (id: number): Run | undefined => {
    const run = runs.get(id);
    runs.delete(id);
    run?.ended.abort();
    return run;
  };

  const watch = setInterval(() => {
    if (runs.size > 0 && residentBytes(child.pid ?? 0) > RESIDENT) end();
  }, LOOK_MS);
  const gone = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  }).then(() => {
    alive = false;
    clearInterval(watch);
    for (const id of runs.keys()) take(id)?.reject(new ScriptFailed(LOST));
  });

  function serve({ id, ask, what, text }: Extract<Report, { kind: "ask" }>): void {
    const run = runs.get(id);
    if (!run) return;
    void answerTo(run, what, text)
      .then(
        (value) => ({ ok: true, text: JSON.stringify(value) }),
        (error: Error) => ({ ok: false, text: error.message }),
      )
      .then((answer) => tell({ kind: "answer", id, ask, ...answer }));
  }

  child.on("message", (report: Report) => {
    if (report.kind === "ask") return serve(report);
    const run = take(report.id);
    if (report.kind === "done") run?.resolve(report.json);
    else run?.reject(new ScriptFailed(report.message, report.line, report.column));
  });

  return {
    gone,
    end,
    isAlive: () => alive,
    running: () => runs.size,
    order(order: { kind: "inspect"; source: string } | { kind: "run"; js: string; input: string }, one: Waiting): void {
      const id = ids++;
      runs.set(id, { ...one, ended: new AbortController() });
      one.signal.addEventListener(
        "abort",
        () => {
          if (!take(id)) return;
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
