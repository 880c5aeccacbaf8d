import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isUuid, streamOf } from "#events/ids.ts";
import { scopeOf } from "#events/scope.ts";
import { DeleteThread, Prompt, type Message } from "#events/thread.ts";
import { getTurn, listMessages, newestTurn, threadExists, type ThreadTurn } from "#projections/turns/query.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import type { App } from "../app.ts";

const Params = z.object({ id: z.string() });
const Query = z.object({ user: z.string().optional().describe("The end user whose thread it is.") });
const ThreadMessage = z.object({
  id: z.string(),
  object: z.literal("thread.message"),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  attachments: z.array(z.object({ filename: z.string(), mime_type: z.string(), bytes: z.int() })),
  status: z.enum(["running", "completed", "failed", "stopped"]),
  created_at: z.int(),
});
const Messages = z.object({
  object: z.literal("list"),
  data: z.array(ThreadMessage),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.literal(false),
});
type ThreadMessage = z.infer<typeof ThreadMessage>;

const notFound = () =>
  new ApiError("thread_not_found", "There is no such thread for this key and user.", { param: "id" });
const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** What was asked in a turn; nothing where the stored prompt is gone. */
export async function inputOf({ blobs, keyring }: Http, turn: ThreadTurn): Promise<Message[]> {
  if (turn.input) return turn.input;
  if (!turn.prompt_blob || !turn.wrapped_key) return [];
  const sealed = await blobs.get(turn.prompt_blob);
  if (!sealed) return [];
  const opened = keyring.open(streamOf("turn", turn.turn_id), turn.wrapped_key, sealed);
  return Prompt.parse(JSON.parse(opened.toString())).messages;
}

/** How long the worker of a turn has to end it with what it has said, which is counted, before its thread is deleted. */
const GRACE_MS = 800;
const LOOK_MS = 50;

/** Ends the turn that a stream tells of; who waits for a whole answer gets none, and is told why. */
async function stopNewest({ db, frames, freshRead }: Http, organization: string, thread: string, scope: string) {
  await freshRead(["turns"], streamOf("thread", thread));
  const id = await newestTurn(db, organization, thread, scope);
  const isRunning = async () => {
    const row = id === undefined ? undefined : await getTurn(db, organization, id);
    return row?.status === "running" && row.streamed;
  };
  if (id === undefined || !(await isRunning())) return;
  frames.stop(organization, id, "deleted");
  for (const until = Date.now() + GRACE_MS; Date.now() < until && (await isRunning()); ) await sleep(LOOK_MS);
}

async function present(http: Http, turn: ThreadTurn): Promise<ThreadMessage[]> {
  const { turn_id, status, answer, started_at, ended_at } = turn;
  const asked = (await inputOf(http, turn)).map(
    ({ role, text, attachments }, n): ThreadMessage => ({
      id: `${turn_id}_${n}`,
      object: "thread.message",
      role,
      content: text,
      attachments: attachments.map(({ filename, mime_type, bytes }) => ({ filename, mime_type, bytes })),
      status: "completed",
      created_at: seconds(started_at),
    }),
  );
  if (answer === null) return asked;
  const said = {
    id: turn_id,
    object: "thread.message" as const,
    role: "assistant" as const,
    content: answer,
    attachments: [],
  };
  return [...asked, { ...said, status, created_at: seconds(ended_at ?? started_at) }];
}

/** Extensions: read a stored thread and delete it, within the scope of key and user. */
export function threadRoutes(app: App, http: Http): void {
  const described = { tags: ["Threads"], security: [{ key: [] }], params: Params, querystring: Query };

  app.get(
    "/threads/:id/messages",
    { schema: { ...described, summary: "What was said in a thread", response: { 200: Messages } } },
    async (request) => {
      const { organization_id, principal } = request.caller;
      const id = request.params.id.toLowerCase();
      if (!isUuid(id)) throw notFound();
      const scope = scopeOf(principal, request.query.user);
      await http.freshRead(["turns"], streamOf("thread", id));
      if (!(await threadExists(http.db, organization_id, id, scope))) throw notFound();
      const data: ThreadMessage[] = [];
      for (const turn of await listMessages(http.db, organization_id, id, scope))
        data.push(...(await present(http, turn)));
      return {
        object: "list" as const,
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: false as const,
      };
    },
  );

  const Deleted = z.object({ id: z.string(), object: z.literal("thread"), deleted: z.literal(true) });
  app.delete(
    "/threads/:id",
    { schema: { ...described, summary: "Delete a thread", response: { 200: Deleted } } },
    async (request) => {
      const { organization_id, principal } = request.caller;
      const id = request.params.id.toLowerCase();
      if (!isUuid(id)) throw notFound();
      const scope = scopeOf(principal, request.query.user);
      // whether it can be ended or not: what is to be deleted is
      await stopNewest(http, organization_id, id, scope).catch((err: unknown) =>
        request.log.warn({ err, request_id: request.id }, "could not end the turn of a thread that is deleted"),
      );
      await http.send(DeleteThread, {
        stream: streamOf("thread", id),
        organization_id,
        principal,
        request_id: request.id,
        data: { scope },
        waitFor: ["turns"],
      });
      return { id, object: "thread" as const, deleted: true as const };
    },
  );
}
