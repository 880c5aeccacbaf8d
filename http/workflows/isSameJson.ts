import { isDeepStrictEqual } from "node:util";
import { parseLargeText } from "#events/readLargeJson.ts";
import { createPause } from "#events/slices.ts";

/** UTF-16 units of two texts that are parsed and compared in one piece: a millisecond. Two results of 1 MiB each take 200. */
const MAX_AT_ONCE = 64 * 1024;

type Members = Record<string | number, unknown>;

/** Two objects or lists of the same size, of which the members before `next` are the same. */
interface Level {
  left: Members;
  right: Members;
  size: number;
  /** The names of an object; undefined for lists. */
  names: string[] | undefined;
  next: number;
}

/** Undefined for an object and a list, and for different sizes. */
function openLevel(left: object, right: object): Level | undefined {
  if (Array.isArray(left) !== Array.isArray(right)) return undefined;
  const names = Array.isArray(left) ? undefined : Object.keys(left);
  const size = Array.isArray(left) ? left.length : names!.length;
  const otherSize = Array.isArray(right) ? right.length : Object.keys(right).length;
  return size === otherSize ? { left: left as Members, right: right as Members, size, names, next: 0 } : undefined;
}

const isObjectOrList = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether two JSON texts have the same value. Lets other work run in between. */
export async function isSameJson(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  if (one.length + other.length <= MAX_AT_ONCE) return isDeepStrictEqual(JSON.parse(one), JSON.parse(other));
  const root = openLevel([await parseLargeText(one)], [await parseLargeText(other)])!;
  const pause = createPause();
  const levels = [root];
  for (let level = root; levels.length > 0; level = levels.at(-1)!) {
    const turn = pause();
    if (turn) await turn;
    if (level.next === level.size) {
      levels.pop();
      continue;
    }
    const key = level.names?.[level.next] ?? level.next;
    level.next += 1;
    if (!Object.hasOwn(level.right, key)) return false;
    const [left, right] = [level.left[key], level.right[key]];
    if (!isObjectOrList(left) || !isObjectOrList(right)) {
      if (!Object.is(left, right)) return false;
      continue;
    }
    const inner = openLevel(left, right);
    if (!inner) return false;
    levels.push(inner);
  }
  return true;
}
