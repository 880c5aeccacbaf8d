import { EvalFlags, type JSValueHandle } from "quickjs-wasi";
import type { StepFailureCode } from "#services/workflows/tick.ts";
import { createExecution, FULFILLED, PENDING, processorMs } from "./execution.ts";
import { lineOf, wordsOf, type Thrown } from "./failure.ts";
import { compile, vmOptions, type CodeCache } from "./guestCode.ts";
import { createLogs, nestsTooDeep } from "./limits.ts";
import type { StepOrder, StepOutcome } from "./messages.ts";
import { createRealm, type Kind } from "./realm.ts";
import { createRetryAfter, delayOf } from "./retryAfter.ts";
import { STEP_GUEST } from "./stepGuest.ts";

export const STEP_MEMORY = 64 * 1024 * 1024;
/** Largest thing that is asked of the host, in UTF-16 units. */
const MOST = 1024 * 1024;
/** Asks of one attempt that may be under way at once, what they hold together, and how many it may make in all. */
const ASKS_AT_ONCE = 20;
const ASKED_AT_ONCE = 2 * MOST;
const ASKS = 1_000;

export const STEP_KIND: Kind = { guest: STEP_GUEST, hosts: ["ask", "note", "came"], room: 256 * 1024 };

type Failed = Extract<StepOutcome, { failed: unknown }>["failed"];
/** An attempt has failed, through its script. */
export class StepEnd extends Error {
  readonly failed: Failed;
  constructor(failed: Partial<Failed> & { message: string }) {
    super(failed.message);
    this.failed = { code: "step_error", final: false, retry_after_ms: null, line: null, ...failed };
  }
}
const limit = (message: string): StepEnd => new StepEnd({ code: "step_limit", message, final: true });
const failureOf = (thrown: Thrown, more: Partial<Failed> = {}): StepEnd =>
  thrown.name === "InternalError" && thrown.message === "out of memory"
    ? limit("The script needed more memory than 64 MiB.")
    : new StepEnd({ message: wordsOf(thrown), line: lineOf(thrown.stack), ...more });

export interface Attempt extends StepOrder {
  /** Bytecode, or the script that is to be compiled. */
  script: Uint8Array | string;
  /** Not wanted any more. */
  signal: AbortSignal;
  /** Answers with JSON of `{ok: true, value}` or `{ok: false, error}`. */
  ask(what: string, text: string): Promise<string>;
}

interface Told extends Thrown {
  code: StepFailureCode | null;
  final: boolean;
  retryAfter: number | null;
}

/** What the guest gives out after its first function (see stepGuest.ts): execute, tell, inspect. */
type Guest = [JSValueHandle, JSValueHandle, JSValueHandle];

export interface SeatOptions {
  wasm: never;
  /** What an attempt may compute, waiting left out, in milliseconds of processor time. */
  cpu_ms: number;
  /** Before and after each time that the script computes; `bytes`: what its VM holds then. */
  enter?(id: number): void;
  leave?(bytes: number): void;
}

const nothing = (): Promise<string> => Promise.reject(new Error("Nothing is asked."));

/** A VM that runs one attempt after another. */
export function createSeat({ wasm, cpu_ms, enter, leave }: SeatOptions, code: CodeCache) {
  let attempt: Pick<Attempt, "ask"> = { ask: nothing };
  /** Which attempt: an answer may come after the one that asked. */
  let turn = 0;
  let id = 0;
  let used = 0;
  let since: number | undefined;
  let over = false;
  let asks = 0;
  let asking = 0;
  let held = 0;
  let logs = createLogs();
  let retryAfter = createRetryAfter();
  let cut: Error | undefined;
  let wake = () => {};

  const spent = (): number => used + (since === undefined ? 0 : processorMs() - since);
  const realm = createRealm(
    STEP_KIND,
    vmOptions({ wasm, memory: STEP_MEMORY, now: Date.now, interrupt: () => (over ||= spent() > cpu_ms) }),
    {
      ask: (what: JSValueHandle, text: JSValueHandle) => asked(what.toString(), text.toString()),
      note(line: JSValueHandle) {
        logs.add(line.toString());
        return realm.vm().undefined;
      },
      came: () => realm.vm().undefined,
    },
  );
  const { inside, drain, call, resultOf } = createExecution(realm, {
    isOver: () => over,
    tooLong: () => limit(`The script computed for longer than ${cpu_ms / 1_000} seconds.`),
    failureOf,
    enter() {
      since = processorMs();
      enter?.(id);
    },
    leave() {
      used = spent();
      since = undefined;
      leave?.(realm.bytes());
    },
  });

  function refusal(text: string): string | undefined {
    if (text.length > MOST) return "What is asked is too large.";
    if (asking >= ASKS_AT_ONCE || held + text.length > ASKED_AT_ONCE) return "Too much is asked at once.";
    return asks >= ASKS ? "Too much is asked." : undefined;
  }

  function asked(what: string, text: string): JSValueHandle {
    const vm = realm.vm();
    const message = refusal(text);
    if (message) return vm.newString(JSON.stringify({ ok: false, error: { message, code: "step_limit" } }));
    const deferred = vm.newPromise();
    const mine = turn;
    asking += 1;
    held += text.length;
    asks += 1;
    void attempt.ask(what, text).then((json) => {
      if (mine !== turn) return;
      asking -= 1;
      held -= text.length;
      try {
        if (what === "fetch") retryAfter.heed(json);
        inside(() => deferred.resolve(vm.newString(json)));
        drain();
      } catch (error) {
        cut ??= error as Error;
      }
      wake();
    });
    return deferred.handle;
  }

  async function settled(promise: JSValueHandle, tell: JSValueHandle): Promise<JSValueHandle> {
    drain();
    while (promise.promiseState === PENDING) {
      if (cut) throw cut;
      if (asking === 0) throw new StepEnd({ message: "The script waits for something that never comes.", final: true });
      await new Promise<void>((resolve) => (wake = resolve));
    }
    if (cut) throw cut;
    const result = await resultOf(promise);
    if (promise.promiseState === FULFILLED) return result;
    const told = JSON.parse(call(tell, result).toString()) as Told;
    throw failureOf(told, {
      code: told.code ?? "step_error",
      final: told.final,
      retry_after_ms: delayOf(told.retryAfter ?? retryAfter.seconds()),
    });
  }

  async function open(whose: number, asker: Attempt["ask"]): Promise<Guest> {
    attempt = { ask: asker };
    turn += 1;
    [id, used, since, over, asks, asking, held, cut] = [whose, 0, undefined, false, 0, 0, 0, undefined];
    logs = createLogs();
    retryAfter = createRetryAfter();
    const [prepare, ...guest] = (await realm.fresh()) as [JSValueHandle, ...Guest];
    call(prepare, realm.vm().newString(JSON.stringify([...crypto.getRandomValues(new Int32Array(3))])));
    return guest;
  }

  function checked(json: string, most: number): string {
    if (Buffer.byteLength(json) > most)
      throw new StepEnd({
        code: "step_result_too_large",
        message: `The result is larger than ${most} bytes.`,
        final: true,
      });
    if (nestsTooDeep(json)) throw new StepEnd({ message: "The result nests too deep.", final: true });
    return json;
  }

  function codeOf({ sha256, script }: Attempt): Uint8Array {
    if (typeof script !== "string") return script;
    const compiled = inside(() => compile(realm.vm(), script));
    code.add(sha256, compiled);
    return compiled;
  }
  async function execute(one: Attempt, [run, tell]: Guest): Promise<string> {
    const { step, input, max_result_bytes } = one;
    const vm = realm.vm();
    const script = codeOf(one);
    const module = await settled(
      inside(() => vm.evalBytecode(script)),
      tell,
    );
    const promise = call(run, module, vm.newString(step), vm.newString(input));
    return checked((await settled(promise, tell)).toString(), max_result_bytes);
  }

  return {
    bytes: realm.bytes,
    /** Throws where this program failed, not the script. */
    async run(whose: number, one: Attempt): Promise<StepOutcome> {
      const stop = (): void => {
        cut ??= new StepEnd({ message: "The step is not wanted any more." });
        wake();
      };
      const guest = await open(whose, one.ask);
      if (one.signal.aborted) stop();
      one.signal.addEventListener("abort", stop);
      try {
        return { json: await execute(one, guest), logs: logs.lines };
      } catch (error) {
        if (!(error instanceof StepEnd)) throw error;
        return { failed: error.failed, logs: logs.lines };
      } finally {
        turn += 1;
        one.signal.removeEventListener("abort", stop);
      }
    },
    /** Evaluates a script as it is saved: JSON of what it says of itself. Throws StepEnd. */
    async inspect(js: string): Promise<string> {
      const [, tell, inspect] = await open(0, nothing);
      const module = await settled(
        inside(() => realm.vm().evalCode(js, "script.js", EvalFlags.TYPE_MODULE)),
        tell,
      );
      const json = call(inspect, module).toString();
      if (json.length > MOST) throw new StepEnd({ message: "What the script says of itself is larger than 1 MiB." });
      return json;
    },
  };
}

export type Seat = ReturnType<typeof createSeat>;
