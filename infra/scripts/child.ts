import { z } from "zod";
import { ScriptFailed, type ScriptHost, type ScriptType } from "#services/scripting/runner.ts";
import { launch } from "../processes/launch.ts";
import { residentBytes } from "../processes/resident.ts";
import type { Order, Report } from "./messages.ts";
import { createPlaces } from "./places.ts";

const LOOK_MS = 500;
/** A VM may hold 64 MiB, and some of them run at once. */
const RESIDENT = 1_000_000_000;

/** Asks of one run that are being answered at once; more wait, so that no script fills this process with answers. */
const ANSWERS_AT_ONCE = 4;

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
  answers: ReturnType<typeof createPlaces>;
}

const Asked = z.object({
  url: z.string().max(8_000),
  method: z.string().max(20),
  headers: z.array(z.tuple([z.string().max(200), z.string().max(8_192)])).max(100),
  body: z.string().nullable(),
});

const LOST = "The process that ran the script was lost; the call may work when it is made again.";

async function answerTo({ host, signal, ended }: Run, what: "fetch" | "secret", text: string): Promise<unknown> {
  if (what === "secret") return host.secret(text);
  const { data } = Asked.safeParse(JSON.parse(text));
  if (!data) throw new Error("fetch: the address, the method or the headers are too long.");
  return host.fetch(data, AbortSignal.any([signal, ended.signal]));
}

/** A process that runs scripts, several at once, each in a VM of its own. It has no credentials and no files but its program. */
export function startChild(cpu_ms: number) {
  const child = launch({
    program: "roles/scripts.ts",
    args: [String(cpu_ms)],
    readable: ["services/scripting", "services/workflows", "infra/scripts"],
    heap: 128,
  });
  const runs = new Map<number, Run>();
  let alive = true;
  let ids = 0;
  /** Resolves when it has left this process. */
  const tell = (order: Order): Promise<void> =>
    new Promise((resolve) => (alive ? child.send(order, () => resolve()) : resolve()));
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

  async function serve({ id, ask, what, text }: Extract<Report, { kind: "ask" }>): Promise<void> {
    const run = runs.get(id);
    if (!run) return;
    await run.answers.enter("", run.ended.signal);
    run.ended.signal.throwIfAborted();
    const answer = await answerTo(run, what, text).then(
      (value) => ({ ok: true, text: JSON.stringify(value) }),
      (error: Error) => ({ ok: false, text: error.message }),
    );
    await tell({ kind: "answer", id, ask, ...answer });
    run.answers.leave("");
  }

  child.on("message", (report: Report) => {
    // one that waits for its turn when the run has ended is not answered
    if (report.kind === "ask") return void serve(report).catch(() => {});
    const run = take(report.id);
    if (report.kind === "done") run?.resolve(report.json);
    else run?.reject(new ScriptFailed(report.message, report.line, report.column));
  });

  return {
    gone,
    end,
    isAlive: () => alive,
    running: () => runs.size,
    order(
      order: { kind: "inspect"; type: ScriptType; source: string } | { kind: "run"; js: string; input: string },
      one: Waiting,
    ): void {
      const id = ids++;
      runs.set(id, {
        ...one,
        ended: new AbortController(),
        answers: createPlaces({ places: ANSWERS_AT_ONCE, each: ANSWERS_AT_ONCE }),
      });
      one.signal.addEventListener(
        "abort",
        () => {
          if (!take(id)) return;
          void tell({ kind: "cancel", id });
          one.reject(one.signal.reason);
        },
        { once: true },
      );
      void tell({ ...order, id });
    },
  };
}

export type Child = ReturnType<typeof startChild>;
