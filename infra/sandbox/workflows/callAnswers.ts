import type { Call } from "./callHistory.ts";

/** The answer to a call of `run()`: JSON of its result, undefined while it has none, or "!" and JSON of `{code?, message}`. */
export type Answer = string | undefined;

export const errorAnswer = (error: { code?: string; message: string }): string => `!${JSON.stringify(error)}`;

/** The result of a call. Throws if the call failed. */
export function answerOrThrow({ value }: Pick<Call, "value">): Answer {
  if (!value) return undefined;
  return "json" in value ? value.json : errorAnswer(value.error);
}

/** The result of a call with `onError: "return"`, for which a failure is a value. */
function answerWithFailure({ value }: Pick<Call, "value">): Answer {
  if (!value) return undefined;
  if ("json" in value) return `{"ok":true,"value":${value.json}}`;
  const { message, code } = value.error;
  return JSON.stringify({ ok: false, error: { message, code } });
}

export const answerStep = (call: Pick<Call, "value">, mode: "fail" | "return"): Answer =>
  mode === "return" ? answerWithFailure(call) : answerOrThrow(call);

/** The results of a runStepMany once all items have one; otherwise undefined. Throws the first failure. */
export function answerMany(calls: readonly Pick<Call, "value">[], mode: "fail" | "return"): Answer {
  if (!calls.every(({ value }) => value)) return undefined;
  if (mode === "return") return `[${calls.map(answerWithFailure).join(",")}]`;
  const failure = calls.map(({ value }) => value!).find((value) => "error" in value);
  return failure ? errorAnswer(failure.error) : `[${calls.map(answerOrThrow).join(",")}]`;
}
