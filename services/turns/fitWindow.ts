import { isUuid } from "#events/ids.ts";
import type { Prompt } from "#events/thread.ts";
import type { ToolOffer } from "./model.ts";
import type { ThreadMessage } from "./threadMessage.ts";

/** The share of a window that stays empty, because providers count tokens differently. */
const MARGIN = 0.1;
/** The share of a window reserved for the answer if the request does not limit it. */
const ANSWER_SHARE = 1 / 8;
/** Maximum tokens per UTF-16 unit, roughly. A text that fits at this rate need not be counted. */
const MAX_TOKENS_PER_UNIT = 2;
/** Tokens that a provider adds to each message. */
const TOKENS_OF_MESSAGE = 4;

export interface Window {
  /** The context window of the model. */
  tokens: number;
  /** The limit of the answer, if the request has one. */
  maxOutput: number | null;
  /** What the request contains beside the history: messages, instructions and tools. */
  request: string[];
}

type CountTokens = (text: string) => Promise<number>;

const fullText = ({ text, calls }: ThreadMessage): string => (calls ? text + JSON.stringify(calls) : text);

/** Token counts of messages, which recent histories keep. */
const counted = new WeakMap<ThreadMessage, number>();
async function tokensOf(message: ThreadMessage, count: CountTokens): Promise<number> {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const tokens = (await count(fullText(message))) + TOKENS_OF_MESSAGE;
  counted.set(message, tokens);
  return tokens;
}

/** Tokens of a window that remain for the history and the request. */
function roomForTexts({ tokens, maxOutput }: Window): number {
  const answer = Math.min(maxOutput ?? tokens * ANSWER_SHARE, tokens / 2);
  return tokens * (1 - MARGIN) - answer;
}

/** An upper bound of the tokens of texts. */
const maxTokens = (texts: string[]): number =>
  texts.reduce((sum, text) => sum + MAX_TOKENS_PER_UNIT * text.length + TOKENS_OF_MESSAGE, 0);

/** Splits a history into whole turns, oldest first. */
function splitTurns(history: ThreadMessage[]): ThreadMessage[][] {
  const turns: ThreadMessage[][] = [];
  for (const message of history)
    if (turns.at(-1)?.[0]?.turn_id === message.turn_id) turns.at(-1)!.push(message);
    else turns.push([message]);
  return turns;
}

/** One turn in this many is an anchor: a cut history begins with one. */
const ANCHOR_EVERY = 8;
/** Derived from the random end of the id, so that every process chooses the same anchors, whatever follows them. */
const isAnchor = ([first]: ThreadMessage[]): boolean =>
  isUuid(first!.turn_id) && Number.parseInt(first!.turn_id.slice(-2), 16) % ANCHOR_EVERY === 0;

/**
 * Drops up to half of the turns that fit, so that the history begins with an anchor. The thread's next requests then share a
 * prefix, which providers read from their caches. Dropping only the oldest turn each time would change the prefix of every request.
 */
function startAtAnchor(fitting: { turn: ThreadMessage[]; tokens: number }[]): ThreadMessage[][] {
  const turns = fitting.map(({ turn }) => turn);
  let droppable = fitting.reduce((sum, { tokens }) => sum + tokens, 0) / 2;
  for (const [n, { turn, tokens }] of fitting.entries()) {
    if (isAnchor(turn)) return turns.slice(n);
    droppable -= tokens;
    if (droppable < 0) break;
  }
  return turns;
}

/**
 * The newest whole turns that fit into the model's window beside the request, oldest first. Without this a long thread could not
 * continue, because providers refuse requests that are too long. The request itself is never cut, and attachments are not counted.
 */
export async function fitWindow(
  history: ThreadMessage[],
  window: Window,
  count: CountTokens,
): Promise<ThreadMessage[]> {
  const room = roomForTexts(window);
  const atMost = maxTokens(history.map(fullText));
  // most requests are so short that no tokens need to be counted
  if (maxTokens(window.request) + atMost <= room) return history;
  const used = await Promise.all(window.request.map(count));
  let left = room - used.reduce((sum, each) => sum + each + TOKENS_OF_MESSAGE, 0);
  if (atMost <= left) return history;
  const fitting: { turn: ThreadMessage[]; tokens: number }[] = [];
  for (const turn of splitTurns(history).toReversed()) {
    const before = left;
    for (const message of turn) {
      left -= await tokensOf(message, count);
    }
    if (left < 0) return startAtAnchor(fitting.toReversed()).flat();
    fitting.push({ turn, tokens: before - left });
  }
  return history;
}

/** The window for the history, beside the turn's own request. */
export function describeWindow(
  tokens: number,
  { instructions, agent, max_output_tokens }: Prompt,
  offers: ToolOffer[],
  own: ThreadMessage[],
): Window {
  const texts = [agent?.instructions, instructions, ...own.map(({ text }) => text)].filter((text) => text != null);
  const tools = offers.map((offer) => JSON.stringify(offer));
  return { tokens, maxOutput: max_output_tokens, request: [...texts, ...tools] };
}
