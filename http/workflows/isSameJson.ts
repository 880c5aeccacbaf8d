import { isDeepStrictEqual } from "node:util";
import { parseLargeText } from "#events/readLargeJson.ts";
import { createPause } from "#events/slices.ts";

/** UTF-16 units of two texts that are parsed and compared in one piece: a millisecond. Two results of 1 MiB each take 200. */
const MAX_AT_ONCE = 64 * 1024;

type Pair = [unknown, unknown];

/** The pairs of members of two objects or lists; undefined if they have other names, or not as many. */
function pairMembers(one: object, other: object): Pair[] | undefined {
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return undefined;
    return one.map((member, n) => [member, other[n]]);
  }
  const members = Object.entries(one);
  if (members.length !== Object.keys(other).length || !members.every(([name]) => Object.hasOwn(other, name)))
    return undefined;
  return members.map(([name, member]) => [member, (other as Record<string, unknown>)[name]]);
}

const isObjectOrList = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether two JSON texts have the same value. Lets other work run in between. */
export async function isSameJson(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  if (one.length + other.length <= MAX_AT_ONCE) return isDeepStrictEqual(JSON.parse(one), JSON.parse(other));
  const open: Pair[] = [[await parseLargeText(one), await parseLargeText(other)]];
  const pause = createPause();
  for (let pair = open.pop(); pair; pair = open.pop()) {
    await pause();
    const [left, right] = pair;
    if (!isObjectOrList(left) || !isObjectOrList(right)) {
      if (!Object.is(left, right)) return false;
      continue;
    }
    const members = pairMembers(left, right);
    if (!members) return false;
    for (const member of members) open.push(member);
  }
  return true;
}
