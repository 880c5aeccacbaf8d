import type { RunCall } from "./foldCalls.ts";

/* Which answers of an ended run a retry or a fork inherits (ADR 40). */

export const isKept = ({ answer, endsRun }: RunCall): boolean => answer !== undefined && !endsRun;

/** Whether time alone answered the call: its timer has fired, its wait has timed out, or its approval has expired. */
function isTimed({ kind, answer }: RunCall): boolean {
  if (kind === "timer") return true;
  if (!answer || !("json" in answer)) return false;
  if (kind === "approval") return (JSON.parse(answer.json) as { decided_by: unknown }).decided_by === null;
  if (kind !== "runWait" && kind !== "messageWait") return false;
  return (JSON.parse(answer.json) as { status: string }).status === "timed_out";
}

/**
 * Whether a call that waited for time was open when another one was answered, and was answered later. If the other call is made
 * again, it would lose a race against the inherited answer at once. `isEarlier`: the call was made before the other one, so it was
 * open then.
 */
const hasLostTo = ({ nth_answer = 0, answers_before }: RunCall, other: RunCall, isEarlier: boolean): boolean =>
  other.nth_answer !== undefined && other.nth_answer < nth_answer && (isEarlier || answers_before < other.nth_answer);

interface ForkChanges {
  /** JSON of the new result of the step; undefined: it is executed again. */
  result: string | undefined;
  /** Whether arguments, a result or the version are changed. */
  isChanged: boolean;
}

/** The answers that a fork inherits: those before the step `calls[at]`, without what must be decided or waited for again. */
export function inheritedByFork(calls: RunCall[], at: number, { result, isChanged }: ForkChanges): RunCall[] {
  const before = calls.slice(0, at).filter(isKept);
  // changed answers invalidate approvals, because people approved what they saw
  const isAskedAgain = ({ kind }: RunCall) => isChanged && kind === "approval";
  const again = before.filter(isAskedAgain);
  const step = calls[at];
  if (step && result === undefined) again.push(step);
  const places = new Map(calls.map((call, n) => [call, n]));
  const isBeaten = (call: RunCall) =>
    again.some((other) => hasLostTo(call, other, places.get(call)! < places.get(other)!));
  // isTimed last, because it parses answers, and inherited ones may be long
  const inherited = before.filter((call) => !isAskedAgain(call) && !(isBeaten(call) && isTimed(call)));
  if (step && result !== undefined) inherited.push({ ...step, answer: { json: result }, endsRun: false });
  return inherited;
}
