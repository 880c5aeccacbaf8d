import { InvalidOption } from "./callOptions.ts";

/* Limits of the scripts of workflows. Sizes of text are in UTF-16 units of JSON. */

/** Memory of `run()`, including its arguments and results. */
export const RUN_MEMORY_BYTES = 32 * 1024 * 1024;
/** Memory of an attempt at a step. */
export const STEP_MEMORY_BYTES = 64 * 1024 * 1024;
/** Maximum nesting of values passed into and out of a script, because code that reads them recurses. */
export const MAX_DEPTH = 200;
/** Arguments of one step. */
export const MAX_ARGS = 262_144;
/** Result of a run. */
export const MAX_RESULT = 1_048_576;
/** Items of one runStepMany. */
export const MAX_ITEMS = 1_000;
/** Option `key` of a call. */
export const MAX_KEY = 200;
/** Calls of one tick without a result. */
export const MAX_OUTSTANDING_CALLS = 10_000;
/** Total JSON of the new calls of one tick. */
export const MAX_REQUESTED_JSON = 16_777_216;
/** New labels of now() in one tick. */
export const MAX_FIXED_VALUES = 1_000;
/** Log lines of a run or a step; more is dropped. */
const MAX_LOGS = 262_144;

/** Whether a JSON text nests deeper than MAX_DEPTH. Reads it without recursion, before it is parsed. */
export function nestsTooDeep(json: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let n = 0; n < json.length; n++) {
    const unit = json.charCodeAt(n);
    if (quoted) {
      if (unit === 0x5c) n += 1;
      else if (unit === 0x22) quoted = false;
    } else if (unit === 0x22) quoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
}

/** Returns the JSON. Throws InvalidOption if it is too long or nested too deeply. */
export function checkFits(what: string, json: string, max: number): string {
  if (json.length > max) throw new InvalidOption(`${what}: longer than ${max} characters of JSON.`);
  if (nestsTooDeep(json)) throw new InvalidOption(`${what}: not serialisable, it nests too deep.`);
  return json;
}

/** Collects the lines that a script logs, up to a limit. */
export function createLogs() {
  const lines: string[] = [];
  let left = MAX_LOGS;
  return {
    lines,
    add(line: string): void {
      if (left < 0) return;
      left -= line.length + 1;
      lines.push(left < 0 ? "… what was logged after this is not kept" : line);
    },
  };
}
