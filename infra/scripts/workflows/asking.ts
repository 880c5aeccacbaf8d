import { idFrom } from "#events/ids.ts";
import type { Asked, MemoEntry, TickOutcome } from "#services/workflows/tick.ts";
import { keyOf, keysOf, type History } from "./history.ts";
import { createLogs, LONGEST_ARGS, LONGEST_RESULT, MOST_ASKED, MOST_ITEMS, nestsTooDeep } from "./limits.ts";
import { approvalOptions, durationOf, InvalidOption, labelOf, timeOf } from "./options.ts";

const LONGEST_KEY = 200;

/** What a call of `run()` is answered with: JSON, nothing yet, or "!" and JSON of `{code?, message}`. */
type Answer = string | undefined;

interface Setting {
  run_id: string;
  now: number;
  history: History;
}

const refused = (message: string): Answer => `!${JSON.stringify({ message })}`;
const shareOf = (value: MemoEntry["value"]): string =>
  "json" in value
    ? `{"ok":true,"value":${value.json}}`
    : JSON.stringify({ ok: false, error: { message: value.error.message, code: value.error.code } });

/** What one re-execution of `run()` asks, and what it is told; nothing leaves this process meanwhile. */
export function createAsking({ run_id, now, history }: Setting) {
  const asked: Asked[] = [];
  const pending = new Set<string>();
  const found = new Set<string>();
  const notes = new Map<string, string>();
  const logs = createLogs();
  let completed: string | undefined;

  const known = (key: string): MemoEntry["value"] | undefined => {
    const value = history.answers.get(key);
    if (value) found.add(key);
    return value;
  };
  /** Keeps what has come to nothing yet, once. */
  function wait(key: string): boolean {
    if (pending.has(key)) return false;
    if (pending.size >= MOST_ASKED) throw new InvalidOption(`run() asks for more than ${MOST_ASKED} things at once.`);
    pending.add(key);
    return true;
  }
  function fitting(what: string, json: string, longest: number): string {
    if (json.length > longest) throw new InvalidOption(`${what}: longer than ${longest} characters of JSON.`);
    if (nestsTooDeep(json)) throw new InvalidOption(`${what}: not serialisable, it nests too deep.`);
    return json;
  }
  const answerOf = (key: string): Answer => {
    const value = known(key);
    if (!value) return undefined;
    return "json" in value ? value.json : `!${JSON.stringify(value.error)}`;
  };

  function step(name: string, args: string, userKey: string | null, mode: "fail" | "return"): Answer {
    const key = keyOf(history, "step", name, userKey, args);
    const value = known(key);
    if (value && mode === "return") return shareOf(value);
    if (value) return answerOf(key);
    fitting(`The arguments of the step "${name}"`, args, LONGEST_ARGS);
    if (wait(key)) asked.push({ kind: "steps", steps: [{ key, name, args }], concurrency: null, on_error: mode });
    return undefined;
  }

  function many(
    name: string,
    items: string,
    userKey: string | null,
    mode: "fail" | "return",
    concurrency: number,
  ): Answer {
    const what = `The items of the step "${name}"`;
    fitting(what, items, MOST_ITEMS * LONGEST_ARGS);
    const keys = keysOf(history, name, userKey, items);
    if (keys.length > MOST_ITEMS) throw new InvalidOption(`${what}: more than ${MOST_ITEMS}.`);
    const values = keys.map(known);
    if (values.every((value) => value !== undefined)) {
      if (mode === "return") return `[${values.map(shareOf).join(",")}]`;
      const failed = values.find((value) => "error" in value);
      if (failed) return `!${JSON.stringify(failed.error)}`;
      return `[${values.map((value) => ("json" in value ? value.json : "null")).join(",")}]`;
    }
    const parsed = JSON.parse(items) as unknown[];
    const steps = keys.flatMap((key, n) => {
      if (values[n] || !wait(key)) return [];
      return [{ key, name, args: fitting(what, JSON.stringify(parsed[n]), LONGEST_ARGS) }];
    });
    if (steps.length > 0) asked.push({ kind: "steps", steps, concurrency, on_error: mode });
    return undefined;
  }

  function approval(name: string, json: string, userKey: string | null): Answer {
    labelOf("awaitApproval: the name", name);
    fitting("The options of awaitApproval", json, LONGEST_ARGS);
    const key = keyOf(history, "approval", name, userKey, json);
    const answer = answerOf(key);
    if (answer !== undefined) return answer;
    const options = approvalOptions(name, JSON.parse(json));
    if (wait(key)) asked.push({ kind: "approval", key, name, options });
    return undefined;
  }

  function timer(what: "sleep" | "sleepUntil", json: string, userKey: string | null): Answer {
    const given: unknown = JSON.parse(json);
    const until = what === "sleep" ? { in_ms: durationOf(what, given) } : { at: timeOf(what, given) };
    const key = keyOf(history, "timer", what, userKey, JSON.stringify(until));
    const answer = answerOf(key);
    if (answer === undefined && wait(key)) asked.push({ kind: "timer", key, until });
    return answer;
  }

  function note(label: string): Answer {
    const key = keyOf(history, "value", labelOf("now: the label", label), null, '"now"');
    const before = answerOf(key) ?? notes.get(key);
    if (before !== undefined) return before;
    notes.set(key, String(now));
    return String(now);
  }

  function complete(json: string): Answer {
    fitting("The result of complete()", json, LONGEST_RESULT);
    completed ??= json;
    return "null";
  }

  const keyed = (userKey: string | undefined): string | null => {
    if (userKey !== undefined && userKey.length > LONGEST_KEY)
      throw new InvalidOption(`key: longer than ${LONGEST_KEY} characters.`);
    return userKey ?? null;
  };

  function answer(what: string, name: string, json: string, key: string | undefined, more: string[]): Answer {
    switch (what) {
      case "step":
        return step(name, json, keyed(key), more[0] as "fail");
      case "many":
        return many(name, json, keyed(key), more[0] as "fail", Number(more[1]));
      case "approval":
        return approval(name, json, keyed(key));
      case "sleep":
        return timer("sleep", json, keyed(key));
      case "until":
        return timer("sleepUntil", json, keyed(key));
      case "now":
        return note(name);
      case "uuid":
        return JSON.stringify(idFrom("uuid", run_id, labelOf("uuid: the label", name)));
      case "complete":
        return complete(json);
      default:
        logs.add(name);
        return "null";
    }
  }

  return {
    /** Answers one call. */
    ask(...call: Parameters<typeof answer>): Answer {
      try {
        return answer(...call);
      } catch (error) {
        if (error instanceof InvalidOption) return refused(error.message);
        throw error;
      }
    },
    completed: (): string | undefined => completed,
    isWaiting: (): boolean => pending.size > 0,
    told: (): Pick<TickOutcome, "asked" | "unasked" | "notes" | "logs"> => ({
      asked,
      unasked:
        asked.length === 0 || found.size === history.answers.size
          ? []
          : [...history.answers.keys()].filter((key) => !found.has(key)),
      notes: [...notes].map(([key, json]) => ({ key, json })),
      logs: logs.lines,
    }),
  };
}

export type Asking = ReturnType<typeof createAsking>;
