import { isUuid } from "#events/ids.ts";
import type { Item } from "./items.ts";

const PREFIX = { reasoning: "rs", function_call: "fc", message: "msg" };
/** The last hex digits of an item's id number the items of its response: at most 4,096. */
const DIGITS = 3;
/** Position of the digit that holds the version: 7 in the id of a turn, 8 in the id of an item. */
const VERSION_AT = 14;

const withVersion = (uuid: string, version: string): string =>
  uuid.slice(0, VERSION_AT) + version + uuid.slice(VERSION_AT + 1);

/**
 * The id of an output item: the turn's id with its last digits replaced by the item's number. Every process computes the same id,
 * and the turn can be found by it.
 */
export function itemId(type: Item["type"], turn_id: string, output_index: number): string {
  const number = output_index.toString(16).padStart(DIGITS, "0");
  return `${PREFIX[type]}_${withVersion(turn_id, "8").slice(0, -DIGITS)}${number}`;
}

/** The id of a response's first message: its UUID is that of the response (spec: Agent response object, `id`). */
export const messageId = (turn_id: string): string => `${PREFIX.message}_${turn_id}`;

/** The range of ids that an item's turn can have; undefined for an id that is not ours. */
export function turnRangeOf(item_id: string): { first: string; last: string } | undefined {
  const uuid = item_id.slice(item_id.indexOf("_") + 1).toLowerCase();
  if (!isUuid(uuid) || !"78".includes(uuid[VERSION_AT]!)) return undefined;
  const turn = withVersion(uuid, "7").slice(0, -DIGITS);
  return { first: turn + "0".repeat(DIGITS), last: turn + "f".repeat(DIGITS) };
}
