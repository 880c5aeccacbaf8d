import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { deriveId } from "#events/ids.ts";
import { writeInPieces } from "#events/largeJson.ts";
import type { Message, TurnOutput } from "#events/thread.ts";
import { answerText } from "#events/turnOutput.ts";
import { listTurns, type ThreadTurn } from "#projections/turns/threadTurns.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { readInTurn } from "../base/longReads.ts";
import { recheckAfterWait } from "../base/recheck.ts";
import { reserveAnswerBytes, MAX_UNCOUNTED_BYTES } from "../base/sendFile.ts";
import { readTurnInput } from "../turns/turnInput.ts";
import { messageId } from "./itemIds.ts";
import type { ResponseRow } from "./lookups.ts";

const MessageItem = z.object({
  id: z.string(),
  type: z.literal("message"),
  role: z.enum(["user", "assistant"]),
  content: z.array(z.object({ type: z.literal("input_text"), text: z.string() })),
});
/* A call of one of the caller's own tools. */
const CallItem = z.object({
  id: z.string(),
  type: z.literal("function_call"),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: z.literal("completed"),
});
const ResultItem = z.object({
  id: z.string(),
  type: z.literal("function_call_output"),
  call_id: z.string(),
  output: z.string(),
});
const Item = z.discriminatedUnion("type", [MessageItem, CallItem, ResultItem]);
type Item = z.infer<typeof Item>;
export const InputItems = z
  .object({
    object: z.literal("list"),
    data: z.array(Item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.literal(false),
  })
  .meta({ title: "InputItemList" });

/** Turns per read, and bytes of their stored text. The first turn is read whatever its size. */
const PAGE = { limit: 200, bytes: 2_000_000 };
/** Minimum UTF-16 units of a piece of the answer, except the last. */
const MIN_SENT = 64 * 1024;

type ItemSource = Pick<Message, "role" | "text" | "calls" | "call_id">;

/** The items of one message. The last message of a turn may be its answer. Each call is a separate item. */
function itemsOf(turn: string, n: number, { role, text, calls = [], call_id }: ItemSource, isAnswer: boolean): Item[] {
  const derived = deriveId("input", turn, String(n));
  if (role === "tool") return [{ id: `fco_${derived}`, type: "function_call_output", call_id: call_id!, output: text }];
  const id = isAnswer ? messageId(turn) : `msg_${derived}`;
  const message: Item = { id, type: "message", role, content: [{ type: "input_text", text }] };
  const called = calls.map(({ id: of, name, arguments: args }, nth): Item => {
    const item_id = `fc_${deriveId("input", turn, String(n), String(nth))}`;
    return { id: item_id, type: "function_call", call_id: of, name, arguments: args, status: "completed" };
  });
  return text === "" && called.length > 0 ? called : [message, ...called];
}

/** The items of a turn. The answer of the response itself is left out. */
async function readItems(http: Needs, turn: ThreadTurn, isOfResponse: boolean): Promise<Item[]> {
  const { said: output, turn_id } = turn;
  const messages: ItemSource[] = await readTurnInput(http, turn);
  const answer: ItemSource | undefined = output && !isOfResponse ? answerMessage(output) : undefined;
  const sources = [...messages, ...(answer ? [answer] : [])];
  return sources.flatMap((message, n) => itemsOf(turn_id, n, message, message === answer));
}

type Needs = Pick<Http, "db" | "vault" | "longReadPlaces">;
type ResponsePlace = Pick<ResponseRow, "id" | "organization_id" | "thread_id" | "scope">;

/** The turns up to a response, a page at a time. */
async function* readPages({ db }: Needs, { id, organization_id, thread_id, scope }: ResponsePlace) {
  for (let last: { turn_id: string; position: number } | undefined; last?.turn_id !== id; ) {
    const page = await listTurns(db, organization_id, thread_id, scope, { until: id, after: last?.position, ...PAGE });
    last = page.at(-1);
    if (!last) throw new Error("the response was deleted while its thread was read");
    yield page;
  }
}

/**
 * All items. Long turns are read in turn with other long reads of the organization, and count as bytes that it holds until the client
 * has read them.
 */
async function* readThread(http: Needs, reply: FastifyReply, row: ResponsePlace): AsyncGenerator<Item> {
  const { request } = reply;
  const disconnected = disconnectSignal(reply.raw);
  for await (const page of readPages(http, row)) {
    // a client may take minutes for a long thread, and its credential may end in that time
    await recheckAfterWait(reply);
    const bytes = page.reduce((sum, turn) => sum + turn.bytes, 0);
    const readPage = async (): Promise<Item[]> => {
      const items: Item[] = [];
      for (const turn of page) items.push(...(await readItems(http, turn, turn.turn_id === row.id)));
      return items;
    };
    if (bytes <= MAX_UNCOUNTED_BYTES) {
      yield* await readPage();
      continue;
    }
    const readLong = (): Promise<Item[]> => {
      reserveAnswerBytes(request, reply, bytes);
      return readPage();
    };
    yield* await readInTurn(http, row.organization_id, readLong, disconnected);
    request.countBytes(-bytes);
  }
}

async function* writeList(items: AsyncIterable<Item>): AsyncGenerator<string> {
  let [first_id, last_id]: (string | null)[] = [null, null];
  let piece = '{"object":"list","data":[';
  for await (const item of items) {
    if (first_id !== null) piece += ",";
    first_id ??= item.id;
    last_id = item.id;
    for await (const part of writeInPieces(item)) {
      piece += part;
      if (piece.length < MIN_SENT) continue;
      yield piece;
      piece = "";
    }
  }
  yield `${piece}],${JSON.stringify({ first_id, last_id, has_more: false }).slice(1)}`;
}

/**
 * The messages that a response answers (spec: Agent API, input items). The list is not paged, so it is streamed: a thread may be
 * larger than the memory.
 */
export function inputItems(http: Needs, reply: FastifyReply, row: ResponsePlace): Readable {
  return Readable.from(writeList(readThread(http, reply, row)), { objectMode: false });
}

function answerMessage(output: TurnOutput): ItemSource | undefined {
  const text = answerText(output);
  const { calls } = output;
  if (text === "" && !calls) return undefined;
  return { role: "assistant", text, ...(calls && { calls }) };
}
