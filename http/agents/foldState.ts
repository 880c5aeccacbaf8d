import type { Citation, ToolCall } from "#events/thread.ts";
import { itemId, messageId } from "./itemIds.ts";
import type { Item } from "./items.ts";

/** An event of a response's stream, without its sequence number. */
export type StreamEvent = { type: string } & Record<string, unknown>;

export interface OpenText {
  type: "reasoning" | "message";
  index: number;
  id: string;
  text: string;
  /** The refusal of a message, which is its last part. */
  refusal?: string;
}

/** The state of a response after the frames so far. */
export interface FoldState {
  turn_id: string;
  showsTools: boolean;
  /** Number of the first item in the stored response. A resent answer leaves earlier items out. */
  firstItem: number;
  output: Item[];
  /** Calls of the newest round, by number; undefined for hidden ones. */
  calls: ({ call: ToolCall; index: number } | undefined)[];
  open: OpenText | undefined;
  /** Citations of the open message, or of the last one if none opens. */
  citations: Citation[];
  /** White space received for an item that is not open yet. */
  blank: { type: OpenText["type"]; text: string } | undefined;
  hasMessage: boolean;
  /** Whether a message has the response's own UUID already. */
  isNamed: boolean;
  /** Whether the model cited sources itself, next to the message they belong to. */
  hasCited: boolean;
}

export function assignItemId(state: FoldState, type: Item["type"], index: number): string {
  const { turn_id, firstItem, isNamed } = state;
  if (type !== "message" || isNamed) return itemId(type, turn_id, firstItem + index);
  state.isNamed = true;
  return messageId(turn_id);
}
export const itemPosition = ({ output }: FoldState, index: number) => ({
  output_index: index,
  item_id: output[index]!.id,
});

export function addItem({ output }: FoldState, item: Item): StreamEvent {
  output.push(item);
  return { type: "response.output_item.added", output_index: output.length - 1, item };
}
export function completeItem({ output }: FoldState, index: number, item: Item): StreamEvent {
  output[index] = item;
  return { type: "response.output_item.done", output_index: index, item };
}
