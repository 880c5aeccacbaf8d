import { idFrom } from "#events/ids.ts";
import type { Asked, StepAsked, TickOutcome } from "#services/workflows/tick.ts";
import { findCall, findItems, type Call, type History } from "./history.ts";
import {
  createLogs,
  fitting,
  LONGEST_ARGS,
  LONGEST_KEY,
  LONGEST_RESULT,
  MOST_ASKED,
  MOST_ITEMS,
  MOST_NOTES,
  MOST_SAID,
} from "./limits.ts";
import type { Early } from "./messages.ts";
import { approvalOptions, durationOf, InvalidOption, labelOf, timeOf } from "./options.ts";

/** What a call of `run()` is answered with: JSON, nothing yet, or "!" and JSON of `{code?, message}`. */
export type Answer = string | undefined;

const failed = (error: { code?: string; message: string }): string => `!${JSON.stringify(error)}`;

function answerOf({ value }: Call): Answer {
  if (!value) return undefined;
  return "json" in value ? value.json : failed(value.error);
}
/** Where `run()` wants to be told of a failure. */
function sharedAnswerOf({ value }: Call): Answer {
  if (!value) return undefined;
  if ("json" in value) return `{"ok":true,"value":${value.json}}`;
  const { message, code } = value.error;
  return JSON.stringify({ ok: false, error: { message, code } });
}
function listAnswerOf(calls: Call[], mode: string): Answer {
  if (!calls.every(({ value }) => value)) return undefined;
  if (mode === "return") return `[${calls.map(sharedAnswerOf).join(",")}]`;
  const first = calls.map(({ value }) => value!).find((value) => "error" in value);
  return first ? failed(first.error) : `[${calls.map(answerOf).join(",")}]`;
}

interface StepSaid {
  /** All of it, in the script's own words. */
  said: string;
  isMany: boolean;
  mode: "fail" | "return";
  name: string;
  userKey: string | null;
  json: string;
}
/** A call of a step as the guest says it in one string: "step:fail:1:-:a{…}" has lengths in front of what may hold anything. */
function readStep(said: string): StepSaid {
  const [start, what, mode, name, key] = /^(\w+):(\w+):(\d+):(\d+|-):/.exec(said)!;
  const named = start.length + Number(name);
  const keyed = named + (key === "-" ? 0 : Number(key));
  return {
    said,
    isMany: what === "many",
    mode: mode === "return" ? "return" : "fail",
    name: said.slice(start.length, named),
    userKey: key === "-" ? null : said.slice(named, keyed),
    json: said.slice(keyed),
  };
}

interface Execution {
  run_id: string;
  now: number;
  history: History;
  /** Runs a step in the same breath; undefined where it cannot be. */
  ahead?(step: StepAsked): Ran | undefined;
}
type Ran = Pick<Early, "order" | "result">;

/** What one re-execution of `run()` asks, and what it is told; nothing leaves this process meanwhile. */
export function createAsking({ run_id, now, history, ahead }: Execution) {
  const tick = ++history.ticks;
  const asked: Asked[] = [];
  const early: (Early & { call: Call })[] = [];
  const notes = new Map<Call, string>();
  const logs = createLogs();
  /** Calls of the memo that were asked for, and calls that have come to nothing yet. */
  let found = 0;
  let outstanding = 0;
  let spoken = 0;
  /** Lines and notes that were told with steps that were run ahead. */
  let linesTold = 0;
  let notesTold = 0;
  let completed: string | undefined;

  /** Whether it is the first time on this tick. */
  function isFirst(call: Call): boolean {
    if (call.asked === tick) return false;
    call.asked = tick;
    if (call.value) found += 1;
    else if (++outstanding > MOST_ASKED)
      throw new InvalidOption(`run() asks for more than ${MOST_ASKED} things at once.`);
    return true;
  }

  /** What is said is kept: a script is not to fill this process with it. */
  function counted(said: string): string {
    spoken += said.length;
    if (spoken > MOST_SAID)
      throw new InvalidOption(`run() asks for more than ${MOST_SAID} characters of JSON at once.`);
    return said;
  }
  const find = (call: Parameters<typeof findCall>[1]): Call =>
    history.said.get(call.said) ?? findCall(history, { ...call, said: counted(call.said) });

  /** What a call of a step came to, where it was made before in the same words. */
  function look(said: string): Answer {
    const call = history.said.get(said);
    if (call) {
      if (!call.value) return undefined;
      isFirst(call);
      return said.startsWith("step:return") ? sharedAnswerOf(call) : answerOf(call);
    }
    const calls = history.lists.get(said);
    const answer = calls && listAnswerOf(calls, said.startsWith("many:return") ? "return" : "fail");
    if (answer !== undefined) calls!.forEach(isFirst);
    return answer;
  }

  const notesNow = () => [...notes].slice(notesTold).map(([{ key }, json]) => ({ key, json }));

  /**
   * A step that is asked for when all that is known was asked for, and nothing else is, is all that `run()` waits for: what it
   * comes to at once is what the next tick would be told.
   */
  function runAhead(call: Call, name: string, args: string, mode: "fail" | "return"): void {
    if (outstanding > 0 || found !== history.known || completed !== undefined) return;
    const { key } = call;
    const ran = ahead?.({ key, name, args });
    if (!ran) return;
    const outcome: TickOutcome = {
      end: { type: "suspended" },
      asked: [{ kind: "steps", steps: [{ key, name, args }], concurrency: null, on_error: mode }],
      unasked: [],
      notes: notesNow(),
      warnings: [],
      logs: logs.lines.slice(linesTold),
    };
    linesTold = logs.lines.length;
    notesTold = notes.size;
    early.push({ outcome, key, ...ran, call });
    call.value = { json: ran.result.json };
    history.known += 1;
  }

  function step({ said, mode, name, userKey, json }: StepSaid): Answer {
    fitting(`The arguments of the step "${name}"`, json, LONGEST_ARGS);
    const call = find({ kind: "step", name, userKey, args: json, said });
    if (!call.value) runAhead(call, name, json, mode);
    if (isFirst(call) && !call.value)
      asked.push({
        kind: "steps",
        steps: [{ key: call.key, name, args: json }],
        concurrency: null,
        on_error: mode,
      });
    return mode === "return" ? sharedAnswerOf(call) : answerOf(call);
  }

  function many({ said, mode, name, userKey, json }: StepSaid, concurrency: number): Answer {
    const what = `The items of the step "${name}"`;
    fitting(what, json, MOST_ITEMS * LONGEST_ARGS);
    const items = JSON.parse(json) as unknown[];
    if (items.length > MOST_ITEMS) throw new InvalidOption(`${what}: more than ${MOST_ITEMS}.`);
    const args = items.map((item) => fitting(what, JSON.stringify(item), LONGEST_ARGS));
    const calls = history.lists.get(said) ?? findItems(history, { name, userKey, items, said: counted(said) });
    const steps = calls.flatMap((call, n) =>
      isFirst(call) && !call.value ? [{ key: call.key, name, args: args[n]! }] : [],
    );
    if (steps.length > 0) asked.push({ kind: "steps", steps, concurrency, on_error: mode });
    return listAnswerOf(calls, mode);
  }

  function stepOrMany(text: string, concurrency: number): Answer {
    const said = readStep(text);
    if (said.userKey !== null) labelOf("key", said.userKey, LONGEST_KEY, 0);
    return said.isMany ? many(said, concurrency) : step(said);
  }

  const saidAs = (kind: string, name: string, userKey: string | null, json: string): string =>
    `${kind}:${JSON.stringify([name, userKey])}${json}`;

  function approval(name: string, json: string, userKey: string | null): Answer {
    labelOf("awaitApproval: the name", name);
    fitting("The options of awaitApproval", json, LONGEST_ARGS);
    const said = saidAs("approval", name, userKey, json);
    const call = find({ kind: "approval", name, userKey, args: json, said });
    if (call.value) isFirst(call);
    else {
      const options = approvalOptions(name, JSON.parse(json));
      if (isFirst(call)) asked.push({ kind: "approval", key: call.key, name, options });
    }
    return answerOf(call);
  }

  function timer(what: "sleep" | "sleepUntil", json: string, userKey: string | null): Answer {
    const given: unknown = JSON.parse(json);
    const until = what === "sleep" ? { in_ms: durationOf(what, given) } : { at: timeOf(what, given) };
    const said = saidAs("timer", what, userKey, json);
    const args = JSON.stringify(until);
    const call = find({ kind: "timer", name: what, userKey, args, said });
    if (isFirst(call) && !call.value) asked.push({ kind: "timer", key: call.key, until });
    return answerOf(call);
  }

  function note(label: string): Answer {
    const said = saidAs("value", labelOf("now: the label", label), null, "");
    const call = find({ kind: "value", name: label, userKey: null, args: '"now"', said });
    if (call.value) isFirst(call);
    else notes.set(call, String(now));
    if (notes.size - notesTold > MOST_NOTES) throw new InvalidOption(`now: more than ${MOST_NOTES} labels.`);
    return answerOf(call) ?? String(now);
  }

  function answer(what: string, name: string, json: string, key: string | undefined): Answer {
    const userKey = key === undefined ? null : labelOf("key", key, LONGEST_KEY, 0);
    switch (what) {
      case "approval":
        return approval(name, json, userKey);
      case "sleep":
        return timer("sleep", json, userKey);
      case "until":
        return timer("sleepUntil", json, userKey);
      case "now":
        return note(name);
      case "uuid":
        return JSON.stringify(idFrom("uuid", run_id, labelOf("uuid: the label", name)));
      case "complete":
        completed ??= fitting("The result of complete()", json, LONGEST_RESULT);
        return "null";
      default:
        logs.add(name);
        return "null";
    }
  }

  /** What is wrong with a call is told to the script. */
  function told(work: () => Answer): Answer {
    try {
      return work();
    } catch (error) {
      if (error instanceof InvalidOption) return failed({ message: error.message });
      throw error;
    }
  }

  return {
    look,
    step: (said: string, concurrency: number): Answer => told(() => stepOrMany(said, concurrency)),
    ask: (...call: Parameters<typeof answer>): Answer => told(() => answer(...call)),
    completed: (): string | undefined => completed,
    isWaiting: (): boolean => asked.length > 0,
    outcome: (): Pick<TickOutcome, "asked" | "unasked" | "notes" | "logs"> => ({
      asked,
      unasked:
        asked.length === 0 || found === history.known
          ? []
          : [...history.calls.values()]
              .filter(({ value, asked: last }) => value && last !== tick)
              .map(({ key }) => key),
      notes: notesNow(),
      logs: logs.lines,
    }),
    /** What was run ahead; it is not known until it is told. */
    takeEarly(): Early[] {
      for (const { call } of early) call.value = undefined;
      history.known -= early.length;
      return early.map(({ call: _, ...one }) => one);
    },
  };
}

export type Asking = ReturnType<typeof createAsking>;
