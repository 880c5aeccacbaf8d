import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { ADMINS, APPROVERS, BUILDERS, Role } from "#events/user.ts";
import { requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { MAX_SHORT_PAGE, PageQuery, readPage } from "../base/pagination.ts";
import { createCursor, readCursor, readLastEventId, type ToCursor } from "./cursor.ts";
import { createTail } from "./eventTail.ts";
import { wantsSse } from "./wantsSse.ts";

const EVERYBODY = Role.options;

/** The roles that may read each kind of thing. Changes of other kinds, such as sessions, are not sent. */
const READERS: Readonly<Record<string, readonly Role[]>> = {
  organization: EVERYBODY,
  project: EVERYBODY,
  group: EVERYBODY,
  agent: EVERYBODY,
  collection: EVERYBODY,
  document: EVERYBODY,
  extraction: EVERYBODY,
  source: EVERYBODY,
  workflow: EVERYBODY,
  trigger: EVERYBODY,
  run: EVERYBODY,
  approval: APPROVERS,
  thread: BUILDERS,
  definition: BUILDERS,
  secret: BUILDERS,
  key: ADMINS,
  erasure: ADMINS,
  retention: ADMINS,
  hold: ADMINS,
  provider: ADMINS,
  price: ADMINS,
  alias: ADMINS,
  budget: ADMINS,
};
/** Kinds whose owner may read them whatever the role. */
const OWNED = new Set(["thread", "file"]);

function mayRead({ principal, session }: Caller, kind: string, event: RecordedEvent): boolean {
  if (READERS[kind]?.includes(session!.role)) return true;
  return OWNED.has(kind) && event.meta.principal === principal;
}

const Change = z
  .object({
    cursor: z.string().describe("Its place in the organization's log: `after` of a request for what follows it."),
    kind: z.string().describe("The kind of thing that changed: `run`, `document`, `thread` …"),
    id: z.string().describe("Its id."),
    type: z.string().describe("The type of the event."),
  })
  .meta({ title: "Change" });
const Slice = z.object({ data: z.array(Change), next_after: z.string(), has_more: z.boolean() });

/** Converts an event to a change without its fields; undefined if the caller may not read the changed thing. */
function toChange(event: RecordedEvent, toCursor: ToCursor, caller: Caller): z.infer<typeof Change> | undefined {
  const { position, stream, type } = event;
  const { aggregate, id } = parseStreamName(stream);
  // people who decide an agent's tool call may not be able to read its thread
  const kind = type.startsWith("ToolApproval") && !mayRead(caller, aggregate, event) ? "approval" : aggregate;
  return mayRead(caller, kind, event) ? { cursor: toCursor(position), kind, id, type } : undefined;
}

function toFrame(event: RecordedEvent, toCursor: ToCursor, { caller }: FastifyRequest): string {
  const change = toChange(event, toCursor, caller);
  return change ? `id: ${change.cursor}\nevent: change\ndata: ${JSON.stringify(change)}\n\n` : "";
}

/** Streams changes in the organization to everybody who is signed in, so that pages need not poll. */
export function changeRoutes(app: App, http: Http): void {
  const onRequest = requireSession(http);
  const tail = createTail(http, onRequest, toFrame);
  const following = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "List what changed in the organization, oldest first",
    description:
      "Only which things changed, without content, and only things that the caller may read. With `Accept: text/event-stream`, each is sent " +
      "as it happens, as an event `change` whose `id` is the cursor; `Last-Event-ID` resumes after it, on any server. The first frame has only an `id`; everything after it is sent.",
    querystring: z.object({
      after: z
        .string()
        .optional()
        .describe("Cursor of the last change that is known. Default: before the first; with SSE, after the newest."),
      limit: PageQuery.shape.limit,
    }),
    response: { 200: Slice },
  };
  app.get("/changes", { onRequest, schema: following }, async (request, reply) => {
    const { caller, query } = request;
    const { organization_id } = caller;
    const after = await readCursor(http, organization_id, "after", query.after);
    if (wantsSse(request)) {
      const lastSeen = (await readLastEventId(http, request)) ?? after;
      await tail(request, reply, { after: lastSeen });
      return reply;
    }
    const { limit } = readPage(query);
    const range = { after: after ?? 0, limit };
    if (limit > MAX_SHORT_PAGE) await request.acquireLongRead();
    const { events, more } = await http.readAuditSlice(organization_id, range);
    const toCursor = createCursor(http, organization_id);
    return {
      data: events.flatMap((event) => toChange(event, toCursor, caller) ?? []),
      next_after: toCursor(events.at(-1)?.position ?? after ?? 0),
      has_more: more,
    };
  });
}
