import type { z } from "zod";
import type { RecordedEvent } from "#events/envelope.ts";
import { createPause } from "#events/slices.ts";
import { parseLargeJson } from "#events/readLargeJson.ts";
import { Prompt, type Message, type ThreadEvent } from "#events/thread.ts";
import { answerText } from "#events/turnOutput.ts";
import { measureJson } from "#events/largeJson.ts";
import type { TracedMessage } from "./traceShape.ts";

type EventType = ThreadEvent["type"];
/** A recorded event of a thread, of one type or of any. */
export type ThreadRecord<T extends EventType = EventType> = {
  [K in T]: RecordedEvent<Extract<ThreadEvent, { type: K }>> & { type: K };
}[T];

/** Reads a blob of a turn; undefined if it was deleted. */
export type OpenBlob = (turn_id: string, blob: string) => Promise<Buffer | undefined>;

export const hasType =
  <T extends EventType>(...types: T[]) =>
  (event: ThreadRecord): event is Extract<ThreadRecord, { type: T }> =>
    (types as string[]).includes(event.type);
export const isTurnStart = hasType("TurnStarted");
export const isTurnEnd = hasType("TurnCompleted", "TurnFailed", "TurnStopped");
const isDeletion = hasType("TurnDeleted");

/** Maximum bytes of earlier turns in a trace, because a thread may have a hundred megabytes. */
const MAX_CONVERSATION_BYTES = 2_000_000;
/** Assumed size of a prompt in a blob whose event does not contain the size. */
const UNKNOWN_BYTES = 256 * 1024;

interface EarlierTurn {
  started: ThreadRecord<"TurnStarted">;
  end: ThreadRecord<"TurnCompleted" | "TurnFailed" | "TurnStopped"> | undefined;
  bytes: number;
}

/** The part of the thread before a turn. */
export interface ThreadBefore {
  /** The newest turns, in order. */
  earlier: EarlierTurn[];
  /** Number of older turns left out for lack of room. */
  turnsNotShown: number;
  /** Number of turns deleted since the turn began. */
  forgottenTurns: number;
}

function promptBytes({ personal }: ThreadRecord<"TurnStarted">): number {
  const input = personal?.input;
  if (!input) return 0;
  return "prompt" in input ? measureJson(input.prompt, MAX_CONVERSATION_BYTES) : (input.bytes ?? UNKNOWN_BYTES);
}

/** Collects the turns before one, oldest first, and drops the oldest when they no longer fit. */
function createWindow() {
  const earlier: EarlierTurn[] = [];
  let [bytes, dropped] = [0, 0];
  const add = (more: number): void => {
    bytes += more;
    while (bytes > MAX_CONVERSATION_BYTES && earlier.length > 0) {
      bytes -= earlier.shift()!.bytes;
      dropped += 1;
    }
  };
  return {
    earlier,
    dropped: () => dropped,
    start(started: ThreadRecord<"TurnStarted">): void {
      const size = promptBytes(started);
      // refused and deleted turns have no input
      if (size === 0) return;
      earlier.push({ started, end: undefined, bytes: size });
      add(size);
    },
    end(end: NonNullable<EarlierTurn["end"]>): void {
      const turn = earlier.at(-1);
      if (turn?.started.data.turn_id !== end.data.turn_id) return;
      const size = measureJson(end.personal, MAX_CONVERSATION_BYTES);
      Object.assign(turn, { end, bytes: turn.bytes + size });
      add(size);
    },
  };
}

/** Reads the events of a turn, and the turns before it that its trace shows. Reads the thread once, in constant memory. */
export async function readThread(
  thread: AsyncIterable<RecordedEvent[]>,
  turn_id: string,
): Promise<ThreadBefore & { own: ThreadRecord[] }> {
  const own: ThreadRecord[] = [];
  const before = new Set<string>();
  const window = createWindow();
  let forgottenTurns = 0;
  for await (const events of thread)
    for (const event of events as ThreadRecord[]) {
      const of = "turn_id" in event.data ? event.data.turn_id : undefined;
      if (of === turn_id) own.push(event);
      else if (own.length > 0) forgottenTurns += isDeletion(event) && before.has(event.data.turn_id) ? 1 : 0;
      else if (isTurnStart(event)) {
        before.add(event.data.turn_id);
        window.start(event);
      } else if (isTurnEnd(event)) window.end(event);
    }
  return { own, earlier: window.earlier, turnsNotShown: window.dropped(), forgottenTurns };
}

export async function readPrompt(
  { data, personal }: ThreadRecord<"TurnStarted">,
  open: OpenBlob,
): Promise<Prompt | undefined> {
  const input = personal?.input;
  if (!input) return undefined;
  if ("prompt" in input) return input.prompt;
  const json = await open(data.turn_id, input.prompt_blob);
  return json === undefined ? undefined : Prompt.parse(await parseLargeJson(json));
}

export const presentMessage = (
  turn_id: string,
  { role, text, attachments, calls, call_id }: Message,
): z.infer<typeof TracedMessage> => ({
  role,
  text,
  ...(calls && { calls }),
  ...(call_id !== undefined && { call_id }),
  attachments: attachments.map(({ filename, mime_type, bytes, sha256 }) => ({ filename, mime_type, bytes, sha256 })),
  turn_id,
});

/** The question and answer of an earlier turn; empty if they were deleted. */
async function readMessages({ started, end }: EarlierTurn, open: OpenBlob) {
  const { turn_id } = started.data;
  const prompt = await readPrompt(started, open);
  if (!prompt) return [];
  const output = end?.personal?.said;
  const text = output ? answerText(output) : "";
  const question = prompt.messages.map((message) => presentMessage(turn_id, message));
  if (text === "" && !output?.calls) return question;
  const answer: Message = { role: "assistant", text, attachments: [], ...(output?.calls && { calls: output.calls }) };
  return [...question, presentMessage(turn_id, answer)];
}

/** Reads the conversation that a turn continued. */
export async function readConversation({ earlier }: ThreadBefore, open: OpenBlob) {
  const messages: Awaited<ReturnType<typeof readMessages>> = [];
  const pause = createPause();
  for (const turn of earlier) {
    for (const message of await readMessages(turn, open)) messages.push(message);
    await pause();
  }
  return messages;
}
