import { InvalidOption } from "./options.ts";

/* What the scripts of workflows may use. Sizes of text are in UTF-16 units of JSON. */

/** Nothing that goes in or out of a script nests deeper: what reads it later goes down to the bottom. */
export const DEEPEST = 200;
/** Arguments of one step. */
export const LONGEST_ARGS = 262_144;
/** Result of a run. */
export const LONGEST_RESULT = 1_048_576;
export const MOST_ITEMS = 1_000;
/** A key that tells calls apart. */
export const LONGEST_KEY = 200;
/** Calls of one tick that have come to nothing yet. */
export const MOST_ASKED = 10_000;
/** All that is asked anew on one tick. */
export const MOST_SAID = 16_777_216;
/** Labels of `now` that are new on one tick. */
export const MOST_NOTES = 1_000;
/** Of what a run or a step logs, this much is kept. */
const LONGEST_LOGS = 262_144;

/** Whether JSON nests deeper than it may. */
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
      if (++depth > DEEPEST) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
}

/** JSON that is not too long and nests not too deep. Throws InvalidOption. */
export function fitting(what: string, json: string, longest: number): string {
  if (json.length > longest) throw new InvalidOption(`${what}: longer than ${longest} characters of JSON.`);
  if (nestsTooDeep(json)) throw new InvalidOption(`${what}: not serialisable, it nests too deep.`);
  return json;
}

/** Lines that a script logs, up to a limit. */
export function createLogs() {
  const lines: string[] = [];
  let left = LONGEST_LOGS;
  return {
    lines,
    add(line: string): void {
      if (left < 0) return;
      left -= line.length + 1;
      lines.push(left < 0 ? "… what was logged after this is not kept" : line);
    },
  };
}
