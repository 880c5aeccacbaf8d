import type { RecordedEvent } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import type { Vault } from "#events/vault.ts";
import { parseLargeJson } from "#events/readLargeJson.ts";
import { releaseBuffer } from "#events/releaseBuffer.ts";
import { Prompt, type PromptOrBlob, type ThreadEvent } from "#events/thread.ts";
import { answerText } from "#events/turnOutput.ts";
import { newestFirst } from "../newestFirst.ts";
import { isTurnStep, readRounds, type Round } from "./round.ts";
import type { RecentHistories, RecentHistory } from "./recentHistories.ts";
import { providerOf, type ThreadMessage } from "./threadMessage.ts";
import { UNCOUNTED_SIZE } from "./model.ts";
import type { TurnMemoryShare } from "./turnMemory.ts";
import type { TurnToRun } from "./turnToRun.ts";

export interface TurnStores {
  vault: Pick<Vault, "get">;
}

export interface HistoryLimits {
  /** Maximum characters of earlier turns that a turn loads. */
  maxHistoryText: number;
  recentHistories: RecentHistories;
}
export interface HistoryStores extends TurnStores, HistoryLimits {
  log: Pick<EventLog, "readNewest">;
}

/** A character takes at most 6 bytes of JSON. Prompts have other fields as well. */
const MAX_JSON_PER_CHARACTER = 6;

interface Span {
  thread: string;
  from: number;
  before: number;
}
const toRange = ({ thread: stream, from, before }: Span) => ({ stream, from, before });

type StartedEvent = Extract<ThreadEvent, { type: "TurnStarted" }>;
type EndEvent = Exclude<ThreadEvent, StartedEvent> & Pick<RecordedEvent, "version">;
const TYPES = ["TurnStarted", "TurnCompleted", "TurnFailed", "TurnStopped", "TurnRefused", "TurnDeleted"];
const STEP_TYPES = ["RoundRequested", "ToolFinished"];

/** Reads a blob of a turn; undefined if the bytes or their key are gone. */
export const readTurnBlob = ({ vault }: TurnStores, turn: string, blob: string): Promise<Buffer | undefined> =>
  vault.get({ thing: streamName("turn", turn) }, blob);

/** A turn's prompt, from its event or its blob; undefined if it was erased, or its JSON exceeds `maxBytes`. */
export async function readPrompt(
  stores: TurnStores,
  turn: string,
  input: PromptOrBlob | undefined,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Prompt | undefined> {
  if (!input) return undefined;
  if ("prompt" in input) return input.prompt;
  if ((input.bytes ?? 0) > maxBytes) return undefined;
  const json = await readTurnBlob(stores, turn, input.prompt_blob);
  if (!json || json.length > maxBytes) return undefined;
  const prompt = await parseLargeJson(json);
  releaseBuffer(json);
  return Prompt.parse(prompt);
}

/** The memory that a turn reserves before its prompt is read: none for a short prompt, else enough for the longest history as well. */
export function sizeToReserve(
  { maxHistoryText }: Pick<HistoryStores, "maxHistoryText">,
  { input, version }: Pick<TurnToRun, "input" | "version">,
): number {
  const own = input && "prompt_blob" in input ? (input.bytes ?? 0) : 0;
  return own <= UNCOUNTED_SIZE || version === 1 ? own : own + maxHistoryText;
}

export const turnMessages = (turn_id: string, { messages }: Prompt): ThreadMessage[] =>
  messages.map((message) => ({ ...message, turn_id }));

/** The messages of a turn's prompt. Its attachments name the provider that accepted them. */
function askedMessages(turn_id: string, prompt: Prompt, end: EndEvent | undefined): ThreadMessage[] {
  const messages = turnMessages(turn_id, prompt);
  if (end?.type !== "TurnCompleted") return messages;
  const mark = (message: ThreadMessage): ThreadMessage =>
    message.attachments.length === 0 ? message : { ...message, taken_by: providerOf(end.data.model) };
  return messages.map(mark);
}

/** A turn's answer in the thread. Failed and stopped turns keep their partial answer. */
function answerMessages(turn_id: string, event: ThreadEvent | undefined): ThreadMessage[] {
  if (!event || !("personal" in event) || !event.personal || !("said" in event.personal)) return [];
  const text = answerText(event.personal.said);
  return text === "" ? [] : [{ role: "assistant", text, attachments: [], turn_id }];
}

const roundMessages = ({ text, calls, opaque, results }: Round, turn_id: string, provider: string): ThreadMessage[] => [
  { role: "assistant", text, attachments: [], turn_id, calls, opaque: { provider, data: opaque } },
  ...calls.flatMap(({ id }, n): ThreadMessage[] => {
    const result = results[n];
    return result ? [{ role: "tool", text: result.text, attachments: [], turn_id, call_id: id }] : [];
  }),
];

/**
 * The rounds of a turn that ended with calls to the caller's own tools. The model continues as if the turn had not ended: it also
 * gets the calls and results of the server's tools, and the provider's own data, which some providers require.
 */
async function callingMessages(stores: HistoryStores, span: Span, turn_id: string, model: string) {
  const steps: RecordedEvent[] = [];
  for await (const event of newestFirst(stores.log, toRange(span), STEP_TYPES)) steps.push(event);
  const own = steps.filter((event) => isTurnStep(event, turn_id)).reverse();
  const rounds = await readRounds(own, turn_id, (blob) => readTurnBlob(stores, turn_id, blob));
  return rounds.flatMap((round) => roundMessages(round, turn_id, providerOf(model)));
}

/** Progress of reading a history. */
interface HistoryProgress {
  /** Characters left for it. */
  left: number;
  /** Bytes assumed for a blob of unrecorded length. */
  unknownBytes: number;
  /** Whether turns were left out for lack of room. */
  isCut: boolean;
  /** Whether a turn was deleted. */
  deletes: boolean;
}

/** Whole turns of a span, newest first, without refused and erased ones. */
async function* earlierTurns(stores: HistoryStores, span: Span, reading: HistoryProgress) {
  const answerOf = async ({ version: from, data }: RecordedEvent<StartedEvent>, end: EndEvent | undefined) =>
    end?.type === "TurnCompleted" && end.data.open_calls
      ? callingMessages(stores, { ...span, from, before: end.version }, data.turn_id, end.data.model)
      : answerMessages(data.turn_id, end);
  const ends = new Map<string, EndEvent>();
  for await (const event of newestFirst(stores.log, toRange(span), TYPES)) {
    const { type, data, personal } = event as unknown as StartedEvent | Exclude<ThreadEvent, StartedEvent>;
    if (type === "TurnDeleted") reading.deletes = true;
    if (type !== "TurnStarted") {
      if ("turn_id" in data) ends.set(data.turn_id, event as unknown as EndEvent);
      continue;
    }
    const end = ends.get(data.turn_id);
    ends.delete(data.turn_id);
    const { input } = personal ?? {};
    if (!input || end?.type === "TurnRefused") continue;
    const maxBytes = MAX_JSON_PER_CHARACTER * reading.left;
    const prompt = await readPrompt(stores, data.turn_id, input, maxBytes);
    if (prompt)
      yield [
        ...askedMessages(data.turn_id, prompt, end),
        ...(await answerOf(event as RecordedEvent<StartedEvent>, end)),
      ];
    else if ("prompt_blob" in input && (input.bytes ?? reading.unknownBytes) > maxBytes) {
      reading.isCut = true;
      return;
    }
  }
}

const callText = ({ calls }: ThreadMessage): number =>
  calls?.reduce((sum, call) => sum + call.arguments.length, 0) ?? 0;
/** UTF-16 units of the messages and calls. */
export const sizeOfMessages = (messages: ThreadMessage[]): number =>
  messages.reduce((sum, message) => sum + message.text.length + callText(message), 0);

/** The newest whole turns that fit, newest first: those of the span, then the given older ones. */
async function newestTurns(
  stores: HistoryStores,
  span: Span,
  older: ThreadMessage[][],
  reading: HistoryProgress,
): Promise<RecentHistory | undefined> {
  const turns: ThreadMessage[][] = [];
  let size = 0;
  const take = (turn: ThreadMessage[]): boolean => {
    const more = sizeOfMessages(turn);
    reading.left -= more;
    reading.isCut ||= reading.left < 0;
    if (reading.isCut) return false;
    turns.push(turn);
    size += more;
    return true;
  };
  for await (const turn of earlierTurns(stores, span, reading)) if (!take(turn)) break;
  if (reading.deletes && span.from > 1) return undefined;
  if (!reading.isCut) older.every(take);
  return { version: span.before, turns, size };
}

/** Without reserved room, reading stops once the history is so long that it needs some. */
const beginReading = (maxText: number, hasRoom: boolean): HistoryProgress => ({
  left: hasRoom ? maxText : UNCOUNTED_SIZE,
  unknownBytes: hasRoom ? 0 : Number.POSITIVE_INFINITY,
  isCut: false,
  deletes: false,
});

/**
 * The messages before a turn, oldest first: the newest whole turns whose text fits into the limit, so that requests cost the same
 * in threads of any length. Turns that this process has already read are not read again, unless one was deleted. If the history is
 * long, waits for room before it reads all of it.
 */
export async function readHistory(
  stores: HistoryStores,
  { organization_id, thread, version }: Pick<TurnToRun, "organization_id" | "thread" | "version">,
  share: Pick<TurnMemoryShare, "hasRoom" | "reserve">,
  signal: AbortSignal,
): Promise<ThreadMessage[]> {
  const { recentHistories, maxHistoryText } = stores;
  for (;;) {
    const hasRoom = share.hasRoom(maxHistoryText);
    const recent = recentHistories.find(thread);
    const known = recent && recent.version <= version ? recent : undefined;
    let reading = beginReading(maxHistoryText, hasRoom);
    let history =
      known && (await newestTurns(stores, { thread, from: known.version, before: version }, known.turns, reading));
    if (!history) {
      reading = beginReading(maxHistoryText, hasRoom);
      history = (await newestTurns(stores, { thread, from: 1, before: version }, [], reading))!;
    }
    if (hasRoom || !reading.isCut) {
      recentHistories.put(organization_id, thread, history);
      return history.turns.toReversed().flat();
    }
    await share.reserve(maxHistoryText, signal);
  }
}
