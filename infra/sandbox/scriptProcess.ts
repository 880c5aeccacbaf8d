import { ScriptError, type ScriptHost, type ScriptType } from "#services/scripting/runner.ts";
import { createLimiter, type Limiter } from "#services/sharing/fairSemaphore.ts";
import { launch } from "../processes/launch.ts";
import { supervise } from "../processes/supervise.ts";
import { readFetchRequest } from "./fetchRequest.ts";
import type { Order, Report } from "./messages.ts";

/** Several VMs of at most 64 MiB each run at the same time. */
const MAX_RESIDENT_BYTES = 1_000_000_000;
const HEAP_MIB = 128;
/** Requests of one script answered at the same time. Others wait, so that no script fills this process with answers. */
const MAX_ANSWERS_AT_ONCE = 4;
const PROCESS_LOST = "The process that ran the script was lost. The call may work when it is made again.";

/** A script to run, and the promise that its caller awaits. */
export interface PendingScript {
  host: ScriptHost;
  signal: AbortSignal;
  resolve(json: string): void;
  reject(error: unknown): void;
}

interface ScriptInProcess extends PendingScript {
  /** Aborts what the script has requested. */
  ended: AbortController;
  limitAnswers: Limiter;
}

async function requestHost({ host, signal, ended }: ScriptInProcess, what: "fetch" | "secret", text: string) {
  if (what === "secret") return host.secret(text);
  return host.fetch(readFetchRequest(text), AbortSignal.any([signal, ended.signal]));
}

/** Answers a script's request when it gets a free place. Rejects when the script has ended. */
function answerRequest(
  script: ScriptInProcess,
  { id, request, what, text }: Extract<Report, { kind: "request" }>,
  send: (order: Order) => Promise<void>,
): Promise<void> {
  const work = async (): Promise<void> => {
    script.ended.signal.throwIfAborted();
    const outcome = await requestHost(script, what, text).then(
      (value) => ({ ok: true, text: JSON.stringify(value) }),
      (error: Error) => ({ ok: false, text: error.message }),
    );
    await send({ kind: "answer", id, request, ...outcome });
  };
  return script.limitAnswers(work, script.ended.signal);
}

/** A process that runs several scripts at the same time, each in a VM of its own. It has no credentials and reads no file but its program. */
export function startScriptProcess(cpu_ms: number) {
  const scripts = new Map<number, ScriptInProcess>();
  let nextId = 0;
  const remove = (id: number): ScriptInProcess | undefined => {
    const script = scripts.get(id);
    scripts.delete(id);
    script?.ended.abort();
    return script;
  };

  const child = launch({
    program: "roles/scripts.ts",
    args: [String(cpu_ms)],
    readable: ["services/scripting", "services/workflows", "infra/sandbox", "infra/processes"],
    heap: HEAP_MIB,
  });
  const { gone, end, isAlive, send } = supervise(child, {
    maxBytes: MAX_RESIDENT_BYTES,
    isBusy: () => scripts.size > 0,
    onGone() {
      for (const id of scripts.keys()) remove(id)?.reject(new ScriptError(PROCESS_LOST));
    },
  });
  const order = (message: Order): Promise<void> => send(message);

  child.on("message", (report: Report) => {
    if (report.kind === "request") {
      const requester = scripts.get(report.id);
      // after the script has ended, its requests are not answered
      if (requester) answerRequest(requester, report, order).catch(() => {});
      return;
    }
    const script = remove(report.id);
    if (report.kind === "done") script?.resolve(report.json);
    else script?.reject(new ScriptError(report.message, report.line, report.column));
  });

  return {
    gone,
    end,
    isAlive,
    running: (): number => scripts.size,
    run(
      work: { kind: "inspect"; type: ScriptType; source: string } | { kind: "run"; js: string; input: string },
      script: PendingScript,
    ): void {
      const id = nextId++;
      scripts.set(id, { ...script, ended: new AbortController(), limitAnswers: createLimiter(MAX_ANSWERS_AT_ONCE) });
      const cancel = (): void => {
        if (!remove(id)) return;
        void order({ kind: "cancel", id });
        script.reject(script.signal.reason);
      };
      script.signal.addEventListener("abort", cancel, { once: true });
      void order({ ...work, id });
    },
  };
}

export type ScriptProcess = ReturnType<typeof startScriptProcess>;
