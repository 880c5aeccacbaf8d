import { z } from "zod";
import { idFrom } from "#events/ids.ts";
import { listMessages } from "#projections/turns/query.ts";
import { inputOf } from "../chat/threads.ts";
import type { Http } from "../deps.ts";
import type { ResponseRow } from "./find.ts";

const Item = z.object({
  id: z.string(),
  type: z.literal("message"),
  role: z.enum(["user", "assistant"]),
  content: z.array(z.object({ type: z.literal("input_text"), text: z.string() })),
});
export const InputItems = z.object({
  object: z.literal("list"),
  data: z.array(Item),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.literal(false),
});

const item = (turn: string, n: number, role: "user" | "assistant", text: string): z.infer<typeof Item> => ({
  id: `msg_${idFrom("input", turn, String(n))}`,
  type: "message",
  role,
  content: [{ type: "input_text", text }],
});

/** What stood in the thread before a response answered (spec: Agent API, input items). */
export async function inputItems(http: Http, row: ResponseRow): Promise<z.infer<typeof InputItems>> {
  const turns = await listMessages(http.db, row.organization_id, row.thread_id, row.scope, { until: row.id });
  const data: z.infer<typeof Item>[] = [];
  for (const turn of turns) {
    const messages = await inputOf(http, turn);
    data.push(...messages.map(({ role, text }, n) => item(turn.turn_id, n, role, text)));
    if (turn.turn_id !== row.id && turn.answer !== null)
      data.push(item(turn.turn_id, messages.length, "assistant", turn.answer));
  }
  return { object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false };
}
