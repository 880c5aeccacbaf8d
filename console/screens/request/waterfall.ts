import type { Trace, TracedCall, TracedRound } from "../../api/trace.ts";
import type { Usage } from "../../api/types.ts";
import type { Bounds } from "../../parts/Bar.tsx";

/** One line of the waterfall: an activity with a duration. */
export interface Line {
  /** Its name in the address. */
  id: string;
  label: string;
  kind: "attempt" | "model" | "tool";
  status: "running" | "completed" | "failed" | "stopped" | "client";
  /** Epoch milliseconds. */
  start: number;
  end: number;
  usage?: Usage;
  round?: TracedRound;
  call?: TracedCall;
}

/** The last known time: the end of the request, or now. */
export const boundsOf = ({ started_at, ended_at }: Trace, now: number): Bounds => {
  const from = Date.parse(started_at);
  return { from, to: Math.max(ended_at ? Date.parse(ended_at) : now, from + 1) };
};

function lineOfCall(call: TracedCall, { round, at }: TracedRound, n: number, now: number): Line {
  const end = call.ended_at ? Date.parse(call.ended_at) : now;
  // the log records when a tool ended and how long it ran
  const start = call.ended_at ? end - (call.duration_ms ?? 0) : Math.min(Date.parse(at), now);
  return { id: `call-${round}-${n}`, label: call.name, kind: "tool", status: call.status, start, end, call };
}

const usageSince = (whole: Usage, rounds: TracedRound[]): Usage => {
  const rest = (field: keyof Omit<Usage, "cost">) =>
    Math.max(
      0,
      rounds.reduce((left, { usage }) => left - usage[field], whole[field]),
    );
  return {
    prompt_tokens: rest("prompt_tokens"),
    completion_tokens: rest("completion_tokens"),
    cached_tokens: rest("cached_tokens"),
    reasoning_tokens: rest("reasoning_tokens"),
  };
};

/** Attempts, model calls and tool calls, in the order in which they began. */
export function linesOf(trace: Trace, now: number): Line[] {
  const { attempts, rounds, status } = trace;
  const { from, to } = boundsOf(trace, now);
  const lines: Line[] = [];
  const addTakeovers = (until: number) => {
    for (const { attempt, at, resumed } of attempts.slice(lines.filter(({ kind }) => kind === "attempt").length + 1)) {
      const start = Date.parse(at);
      if (start > until) return;
      const why = resumed ? "all approvals are decided" : "another process took over";
      const [id, label] = [`attempt-${attempt}`, `Attempt ${attempt}: ${why}`];
      lines.push({ id, label, kind: "attempt", status: "completed", start, end: start });
    }
  };
  /** A model call begins when the previous tools have ended, or when its attempt began. */
  let ready = from;
  const begins = (before: number) => {
    addTakeovers(before);
    const took = lines.filter(({ kind, start }) => kind === "attempt" && start <= before).at(-1)?.start ?? from;
    return Math.max(ready, took);
  };
  for (const round of rounds) {
    const end = Date.parse(round.at);
    const { usage } = round;
    lines.push({
      id: `round-${round.round}`,
      label: "Model",
      kind: "model",
      status: "completed",
      start: begins(end),
      end,
      usage,
      round,
    });
    const calls = round.calls.map((call, n) => lineOfCall(call, round, n, to));
    lines.push(...calls);
    ready = Math.max(end, ...calls.map((call) => call.end));
  }
  const isWaiting = rounds.at(-1)?.calls.some((call) => call.status === "running");
  if (status === "running" && isWaiting) return lines;
  const usage = usageSince(trace.usage, rounds);
  lines.push({ id: "answer", label: "Model: answer", kind: "model", status, start: begins(to), end: to, usage });
  return lines;
}
