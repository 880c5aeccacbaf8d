import type { JSValueHandle } from "quickjs-wasi";
import { idempotencyKey, stepId } from "#events/ids.ts";
import type { StepAsked, StepContext, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import { createAheadVm } from "./aheadVm.ts";
import { createAsking, type Answer, type Asking } from "./asking.ts";
import { createExecution, FULFILLED, PENDING, processorMs } from "./execution.ts";
import { failureOf, RunFailure, type Thrown } from "./failure.ts";
import { compile, vmOptions } from "./guestCode.ts";
import type { History } from "./history.ts";
import { LONGEST_RESULT, nestsTooDeep } from "./limits.ts";
import { stepOrder, type Ticked } from "./messages.ts";
import { createRealm, type Host, type Kind } from "./realm.ts";
import { nestedSignal, swallowedSignals, type Raised } from "./signals.ts";
import { TICK_GUEST } from "./tickGuest.ts";

const MEMORY = 32 * 1024 * 1024;
/**
 * Interrupts that run() may take on one tick; QuickJS makes one for 10,000 loops and calls. 1,000 of them are 0.3 s of ordinary
 * code here, and the same on a busy machine.
 */
const FUEL = 1_000;

/** Steps that are run ahead in one tick, processor time that they may take with what is between them, and JSON that they give. */
const MOST_AHEAD = 256;
const AHEAD_MS = 5;
const MOST_EARLY = 64 * 1024;

const KIND: Kind = { guest: TICK_GUEST, hosts: ["look", "step", "ask"], room: 1024 * 1024 };

export interface Tick {
  run_id: string;
  /** Bytecode, or the script that is to be compiled. */
  script: Uint8Array | string;
  /** JSON. */
  args: string;
  created_at: number;
  now: number;
  history: History;
  sha256: string;
  /** Where steps may be run ahead. */
  ahead?: TickCall["ahead"] | undefined;
}

/** What run() threw, as the guest tells it: which signal it is or holds, and whether it is that of complete(). */
interface Told {
  signal: number | null;
  ends: boolean;
  wraps: number | null;
  error: Thrown;
}
/** What the guest gives out (see tickGuest.ts). */
type Guest = Record<0 | 1 | 2 | 3 | 4 | 5, JSValueHandle> & JSValueHandle[];
type Result = Pick<TickOutcome, "end" | "warnings">;
const SUSPENDED: Result["end"] = { type: "suspended" };

const tooLong = (): RunFailure => new RunFailure("run_timeout", "run() computed for longer than it may on one tick.");
const stuck = (what: string): RunFailure =>
  new RunFailure("run_stuck", `${what} waits for something that never comes.`);

/** 96 bits that are the same on every tick of a run. */
const seedOf = (run_id: string): number[] =>
  [0, 8, 16].map((at) => Number.parseInt(run_id.replaceAll("-", "").slice(at, at + 8), 16) | 0);

/**
 * Re-executes `run()` of scripts, one after another; each in a realm that ran nothing before. `cpu_ms`: processor time that ends
 * a tick, because what happens between two interrupts may be much.
 */
export function openTicks({ wasm, cpu_ms, watch }: { wasm: never; cpu_ms: number; watch(ahead: boolean): void }) {
  const steps = createAheadVm({ wasm, watch });
  let asking: Asking;
  let created_at = 0;
  let fuel = 0;
  let since = 0;
  let over = false;
  /** A fault of this program, not of the script. */
  let fault: Error | undefined;
  /** Bytecode that was made on this tick. */
  let compiled: Uint8Array | undefined;
  /** How many promises that nobody waits for were rejected with a signal. */
  const unhandled = new Map<number, number>();

  const hosted =
    (answer: (...args: (string | undefined)[]) => Answer): Host =>
    (...args) => {
      try {
        const told = answer(...args.map((arg) => (arg.isUndefined ? undefined : arg.toString())));
        return told === undefined ? realm.vm().undefined : realm.vm().newString(told);
      } catch (error) {
        fault ??= error as Error;
        throw Object.assign(new Error("The call could not be made."), { stack: "" });
      }
    };
  const realm = createRealm(
    KIND,
    {
      ...vmOptions({
        wasm,
        memory: MEMORY,
        now: () => created_at,
        interrupt: () => {
          fuel += 1;
          over ||= fuel > FUEL || processorMs() - since > cpu_ms;
          return over;
        },
      }),
      onUnhandledRejection(_promise, { identity }, isHandled) {
        unhandled.set(identity, (unhandled.get(identity) ?? 0) + (isHandled ? -1 : 1));
      },
    },
    {
      look: hosted((said = "") => asking.look(said)),
      step: hosted((said = "", concurrency) => asking.step(said, Number(concurrency))),
      ask: hosted((what = "", name = "", json = "", key) => asking.ask(what, name, json, key)),
    },
  );
  const { inside, drain, call, resultOf } = createExecution(realm, { isOver: () => over, tooLong, failureOf });

  function codeOf({ script }: Tick): Uint8Array {
    if (typeof script !== "string") return script;
    compiled = inside(() => compile(realm.vm(), script));
    return compiled;
  }
  async function evaluate(tick: Tick, tell: JSValueHandle): Promise<JSValueHandle> {
    const code = codeOf(tick);
    const promise = inside(() => realm.vm().evalBytecode(code));
    drain();
    if (promise.promiseState === PENDING) throw stuck("The script");
    const result = await resultOf(promise);
    if (promise.promiseState === FULFILLED) return result;
    const { error } = JSON.parse(call(tell, result).toString()) as Told;
    throw failureOf(error ?? { name: null, message: "A signal was thrown on at the top level.", stack: null });
  }

  function implicit(json: string): Result["end"] {
    if (json.length > LONGEST_RESULT || nestsTooDeep(json))
      throw new RunFailure("result_too_large", "The result of run() is larger than 1 MiB, or nests too deep.");
    return { type: "completed", completion: "implicit", json };
  }

  async function execute(tick: Tick): Promise<Result> {
    [fuel, since, over] = [0, processorMs(), false];
    unhandled.clear();
    const guest = await realm.fresh();
    const [prepare, begin, tell, said, raisedAll, raisedAt] = guest as Guest;
    const vm = realm.vm();
    const run_id = JSON.stringify(tick.run_id);
    const given = `{"args":${tick.args},"runId":${run_id},"seed":${JSON.stringify(seedOf(tick.run_id))}}`;
    call(prepare, vm.newString(given));
    const promise = call(begin, await evaluate(tick, tell));
    drain();
    if (promise.promiseState === PENDING) {
      if (!asking.isWaiting() && asking.completed() === undefined) throw stuck("run()");
      return { end: SUSPENDED, warnings: [] };
    }
    const result = await resultOf(promise);
    const raised = (): Raised[] => JSON.parse(call(raisedAll).toString()) as Raised[];
    const isAwaited = (n: number): boolean => (unhandled.get(call(raisedAt, vm.newNumber(n)).identity) ?? 0) <= 0;
    if (promise.promiseState === FULFILLED) {
      const isOpen = asking.isWaiting() || asking.completed() !== undefined;
      const end = isOpen ? SUSPENDED : implicit(call(said, result).toString());
      return { end, warnings: isOpen ? swallowedSignals(raised(), null, isAwaited) : [] };
    }
    const { signal, ends, wraps, error } = JSON.parse(call(tell, result).toString()) as Told;
    if (signal !== null) return { end: SUSPENDED, warnings: ends ? swallowedSignals(raised(), signal, isAwaited) : [] };
    const all = raised();
    const warnings = swallowedSignals(all, null, isAwaited);
    const failure = failureOf(error);
    const held = wraps === null ? undefined : all[wraps];
    if (!held) return { end: failure.end(), warnings };
    const nested = nestedSignal(held);
    const others = warnings.filter(({ call: other }) => other !== held.call);
    return { end: failure.end(` (${nested.message})`), warnings: [nested, ...others] };
  }

  /** Runs steps of a tick in the same breath, as many as take no longer than all that went before, or a little. */
  function aheadOf(tick: Tick) {
    const { run_id, sha256, ahead } = tick;
    if (!ahead) return undefined;
    let until: number | undefined;
    let left = MOST_AHEAD;
    let room = MOST_EARLY;
    return ({ key, name, args }: StepAsked) => {
      const began = processorMs();
      until ??= began + Math.max(AHEAD_MS, began - since);
      const code = compiled ?? tick.script;
      if (left === 0 || room <= 0 || began > until || typeof code === "string") return undefined;
      const { run_as, max_result_bytes } = ahead;
      const context: StepContext = {
        run_id,
        step_id: stepId(run_id, key),
        attempt: 1,
        idempotency_key: idempotencyKey(run_id, key),
        run_as,
      };
      const order = stepOrder(context, { sha256, step: name, args, max_result_bytes });
      const result = steps.run(order, code);
      // what the step has computed is not what run() has
      since += processorMs() - began;
      left = result ? left - 1 : 0;
      room -= order.input.length + (result?.json.length ?? 0);
      return result && { order, result };
    };
  }

  function checkFault(): void {
    if (fault) throw fault;
  }

  return {
    /** Makes ready for the next tick while nobody waits: to clean two VMs takes 0.1 ms, and twice that where they are no longer cached. */
    prepare(): void {
      realm.prepareNow();
      steps.prepareNow();
    },
    /** What `run()` came to, and bytecode where it was made. Throws where this program failed, not the script. */
    async run(tick: Tick): Promise<Ticked & { compiled: Uint8Array | undefined }> {
      if (tick.ahead) await steps.prepare();
      const { run_id, now, history } = tick;
      const ahead = aheadOf(tick);
      asking = createAsking({ run_id, now, history, ...(ahead && { ahead }) });
      ({ created_at } = tick);
      [fault, compiled] = [undefined, undefined];
      const { end, warnings } = await execute(tick).catch((error: unknown): Result => {
        if (error instanceof RunFailure) return { end: error.end(), warnings: [] };
        throw error;
      });
      checkFault();
      const json = asking.completed();
      // the first complete() counts, whatever came after it
      const ended: Result["end"] = json === undefined ? end : { type: "completed", completion: "explicit", json };
      const outcome = { end: ended, warnings, ...asking.outcome() };
      return { outcome, early: asking.takeEarly(), compiled };
    },
  };
}
