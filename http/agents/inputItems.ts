import { z } from "zod";
import { deriveId } from "#events/ids.ts";
import type { Message, TurnOutput } from "#events/thread.ts";
import { answerText } from "#events/turnOutput.ts";
import { listTurns } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { readTurnInput } from "../turns/turnInput.ts";
import { messageId } from "./itemIds.ts";
import type { ResponseRow } from "./lookups.ts";

const MessageItem = z.object({
  id: z.string(),
  type: z.literal("message"),
  role: z.enum(["user", "assistant"]),
  content: z.array(z.object({ type: z.literal("input_text"), text: z.string() })),
});
/* Of tools of the caller's own. */
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

type ItemSource = Pick<Message, "role" | "text" | "calls" | "call_id">;

/** A message of a turn, the last of which may be its answer; its calls are items of their own. */
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

/** The messages of the thread that a response answers (spec: Agent API, input items). */
export async function inputItems(http: Http, row: ResponseRow): Promise<z.infer<typeof InputItems>> {
  const turns = await listTurns(http.db, row.organization_id, row.thread_id, row.scope, { until: row.id });
  const data: Item[] = [];
  for (const turn of turns) {
    const { said, turn_id } = turn;
    const messages: ItemSource[] = await readTurnInput(http, turn);
    const answer: ItemSource | undefined = said && turn_id !== row.id ? answerMessage(said) : undefined;
    const said_in = [...messages, ...(answer ? [answer] : [])];
    data.push(...said_in.flatMap((message, n) => itemsOf(turn_id, n, message, message === answer)));
  }
  return { object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false };
}

function answerMessage(said: TurnOutput): ItemSource | undefined {
  const text = answerText(said);
  const { calls } = said;
  if (text === "" && !calls) return undefined;
  return { role: "assistant", text, ...(calls && { calls }) };
}
