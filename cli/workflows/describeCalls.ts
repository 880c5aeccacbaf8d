import { escapeControls } from "../output.ts";
import type { LocalCall, LocalEnd, Place } from "./localCalls.ts";

const MAX_JSON = 200;
/** A value as one line, shortened. */
export function shortJson(value: unknown): string {
  const json = escapeControls(JSON.stringify(value) ?? "null");
  return json.length > MAX_JSON ? `${json.slice(0, MAX_JSON)}…` : json;
}

/** `FILE:LINE:COLUMN`, which editors and terminals can open. */
export const placeIn = (file: string, { line, column }: Place): string =>
  line === null ? file : `${file}:${line}${column === null ? "" : `:${column}`}`;

/** A call of `run()`, as one line for the terminal. */
export function describeCall(call: LocalCall): string {
  if (call.kind === "step") return `step ${call.name} ${shortJson(call.args)}`;
  if (call.kind === "approval") return `approval ${call.name} ${JSON.stringify(escapeControls(call.title))}`;
  if (call.kind === "child") return `startRun ${escapeControls(call.name)} ${shortJson(call.args)}`;
  if (call.kind === "runWait") return `waitForRun ${escapeControls(call.name)}`;
  if (call.kind === "event") return `waitForEvent ${escapeControls(call.name)}`;
  if (call.kind === "agent") return `agent ${escapeControls(call.name)} ${shortJson(call.input)}`;
  return `sleep until ${call.until}`;
}

export function describeEnd(file: string, end: LocalEnd): string {
  if (end.type === "completed") return `completed ${JSON.stringify(end.result, null, 2)}`;
  if (end.type === "continued")
    return `continueAs   ${placeIn(file, end.at)}\nAnother run would go on with ${JSON.stringify(end.args, null, 2)}`;
  return `${placeIn(file, end.at)}: ${escapeControls(end.message)}${end.step === null ? "" : ` (step ${end.step})`}`;
}
