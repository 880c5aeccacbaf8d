import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid, streamName } from "#events/ids.ts";
import { answerText } from "#events/turnOutput.ts";
import { findTurnPosition, listTurns, threadExists, type ThreadTurn } from "#projections/turns/threadTurns.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { readPage } from "../base/pagination.ts";
import { waitToRead } from "../base/sendFile.ts";
import { unixSeconds } from "../base/times.ts";
import { presentCalls, ToolCall } from "./callShape.ts";
import { readTurnInput } from "./turnInput.ts";

export const MessagesQuery = z.object({
  user: z.string().optional().describe("The end user whose thread it is."),
  after: z.string().optional().describe("The `last_id` of the page before."),
  limit: z.string().optional().describe("Turns, each with all its messages: 50 by default, 500 at most."),
});
const ThreadMessage = z
  .object({
    id: z.string(),
    object: z.literal("thread.message"),
    role: z.enum(["user", "assistant", "tool"]),
    content: z.string(),
    tool_calls: z.array(ToolCall).optional().describe("Calls of the caller's own tools."),
    tool_call_id: z.string().optional().describe("Of a tool result: the id of the call that it answers."),
    attachments: z.array(z.object({ filename: z.string(), mime_type: z.string(), bytes: z.int() })),
    status: z.enum(["running", "completed", "failed", "stopped"]),
    created_at: z.int(),
  })
  .meta({ title: "ThreadMessage" });
export const Messages = z.object({
  object: z.literal("list"),
  data: z.array(ThreadMessage),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
type ThreadMessage = z.infer<typeof ThreadMessage>;

/** Maximum bytes of stored text per page, because the answer is built on the event loop. */
const MAX_PAGE_BYTES = 2_000_000;

export const threadNotFound = () =>
  new ApiError("thread_not_found", "There is no such thread for this key and user.", { param: "id" });

/** Checks the thread id of the path. Throws 404 `thread_not_found`. */
export function readThreadPath(id: string): string {
  if (!isUuid(id)) throw threadNotFound();
  return id.toLowerCase();
}

/** Presents the messages that a turn added to its thread. */
async function present(http: Http, turn: ThreadTurn): Promise<ThreadMessage[]> {
  const { turn_id, status, said: output, started_at, ended_at } = turn;
  const object = "thread.message" as const;
  const messages = (await readTurnInput(http, turn)).map(
    ({ role, text, attachments, calls, call_id }, n): ThreadMessage => ({
      id: `${turn_id}_${n}`,
      object,
      role,
      content: text,
      ...presentCalls(calls),
      ...(call_id !== undefined && { tool_call_id: call_id }),
      attachments: attachments.map(({ filename, mime_type, bytes }) => ({ filename, mime_type, bytes })),
      status: "completed",
      created_at: unixSeconds(started_at),
    }),
  );
  const content = output ? answerText(output) : "";
  if (content === "" && !output?.calls) return messages;
  const created_at = unixSeconds(ended_at ?? started_at);
  return [
    ...messages,
    {
      id: turn_id,
      object,
      role: "assistant",
      content,
      ...presentCalls(output?.calls),
      attachments: [],
      status,
      created_at,
    },
  ];
}

/** The position of the turn of a message. Throws 400 for an `after` that is not the id of a message of the thread. */
async function readCursor(
  { db }: Pick<Http, "db">,
  organization: string,
  thread: { id: string; scope: string },
  after: string,
): Promise<number> {
  // the id of a message begins with the id of its turn
  const turn = after.split("_")[0]!;
  const position = isUuid(turn) ? await findTurnPosition(db, organization, thread, turn) : undefined;
  if (position !== undefined) return position;
  throw new ApiError(null, "after must be the id of a message of this thread.", { param: "after" });
}

/** Reads a page of a thread's messages. Throws 404 `thread_not_found`, and 400 for an `after` that is not the id of a message of it. */
export async function readMessages(
  http: Http,
  request: Pick<FastifyRequest, "caller" | "acquireLongRead">,
  { id, scope }: { id: string; scope: string },
  query: z.infer<typeof MessagesQuery>,
): Promise<z.infer<typeof Messages>> {
  const organization = request.caller.organization_id;
  await http.waitUntilCurrent(["turns"], streamName("thread", id));
  if (!(await threadExists(http.db, organization, id, scope))) throw threadNotFound();
  const { limit } = readPage({ limit: query.limit });
  const after = query.after === undefined ? 0 : await readCursor(http, organization, { id, scope }, query.after);
  const turns = await listTurns(http.db, organization, id, scope, { after, limit, bytes: MAX_PAGE_BYTES });
  // the first turn may have a prompt of 64 MiB
  await waitToRead(
    request,
    turns.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  const data: ThreadMessage[] = [];
  for (const turn of turns) for (const message of await present(http, turn)) data.push(message);
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  const last = turns.at(-1);
  const next = last ? await listTurns(http.db, organization, id, scope, { after: last.position, limit: 1 }) : [];
  return { object: "list", data, first_id, last_id, has_more: next.length > 0 };
}
