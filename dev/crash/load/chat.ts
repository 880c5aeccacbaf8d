import { createHash, randomBytes } from "node:crypto";
import { PERSONAL } from "../topology.ts";
import { CHAT, type WireAnswer } from "./wire.ts";
import { onceOnly, perform, type Action } from "./session.ts";

const MIB = 1024 * 1024;
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Provider behaviours of a turn, with their weights. */
const ORDERS = {
  "": 60,
  "[slow 40] ": 18,
  "[slow 250] ": 8,
  "[500] ": 5,
  "[429] ": 3,
  "[400] ": 2,
  "[once] ": 4,
  "[cut] ": 3,
};

/** An alias of two models, of which the first fails half of the time. */
export const ALIAS = "steady";
export const ALIAS_TARGETS = ["openai/gpt-shaky", "openai/gpt-plain"];

const OFFLINE = "offline/echo";
/** Models of a turn, with their weights. */
const MODELS = { "openai/gpt-test": 65, [ALIAS]: 20, [OFFLINE]: 15 };

interface Turn {
  thread?: string;
  /** Bytes of the attached files. */
  files?: number[];
  /** Attached uploaded files. */
  uploaded?: string[];
}

/** The text of a stream, and how it ended. */
function readStream(text: string) {
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!);
  const chunks = events.filter((data) => data.startsWith("{")).map((data) => JSON.parse(data));
  const answer = chunks.map((chunk) => chunk.choices?.[0]?.delta?.content ?? "").join("");
  const finishes = chunks.filter((chunk) => chunk.choices?.[0]?.finish_reason).length;
  const ids = [...new Set(chunks.map((chunk) => chunk.id).filter(Boolean))];
  return { text: answer, finishes, ids, done: events.at(-1) === "[DONE]" };
}

function readAnswer({ headers, body, text }: WireAnswer) {
  const thread_id = headers.get("x-thread-id");
  if (body) return { thread_id, ids: [body.id], text: body.choices[0].message.content, finishes: 1, done: true };
  return { thread_id, ...readStream(text) };
}

/** A turn in a new or a given thread. The prompt contains the operation's id, which identifies the turn in the log. */
export async function chat(action: Action, { thread, files = [], uploaded = [] }: Turn = {}): Promise<void> {
  const { id, random, session } = action;
  const streamed = random.chance(0.5);
  const keyed = random.chance(0.75);
  const leaves = streamed && random.chance(0.05);
  const model = random.weighted(MODELS);
  const order = random.weighted(ORDERS);
  const text = `${model === OFFLINE ? "" : order}<${id}> ${PERSONAL} ${"word ".repeat(random.int(3, 30))}`;
  const contents = files.map((bytes) => randomBytes(bytes));
  const parts = contents.map((bytes) => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${bytes.toString("base64")}` },
  }));
  const done = await perform(action, {
    what: "chat",
    keyed,
    asked: { thread, streamed, model, leaves, order: order.trim(), files: contents.map(sha256), uploaded },
    wanted: {
      method: "POST",
      path: `${CHAT}/chat/completions`,
      token: session.api_key,
      ...(leaves && { leaves: () => true }),
      headers: { ...(keyed && onceOnly(id)), ...(thread && { "x-thread-id": thread }) },
      body: {
        model,
        user: session.user,
        stream: streamed,
        messages: [{ role: "user", content: [{ type: "text", text }, ...parts] }],
        ...(uploaded.length > 0 && { attachments: uploaded }),
      },
    },
    read: readAnswer,
  });
  const { thread_id, ids } = done.got;
  if (ids?.length > 0) session.answered.push(ids[0]);
  if (thread_id && !session.threads.includes(thread_id)) session.threads.push(thread_id);
}

export const smallFile = (action: Action): number => action.random.int(1, 20_000);
export const largeFile = (action: Action): number => action.random.int(1 * MIB, 4 * MIB);

export const userQuery = (user: string): string => `?user=${encodeURIComponent(user)}`;

export async function readThread(action: Action, thread: string): Promise<void> {
  const { api_key, user } = action.session;
  await perform(action, {
    what: "thread.read",
    asked: { thread },
    wanted: { method: "GET", path: `${CHAT}/threads/${thread}/messages${userQuery(user)}&limit=500`, token: api_key },
    read: ({ body }) => ({
      messages: body.data.map(({ role, content, status }: Record<string, string>) => ({ role, content, status })),
    }),
  });
}

export async function deleteThread(action: Action, thread: string): Promise<void> {
  const { api_key, user, threads } = action.session;
  threads.splice(threads.indexOf(thread), 1);
  await perform(action, {
    what: "thread.delete",
    asked: { thread },
    wanted: { method: "DELETE", path: `${CHAT}/threads/${thread}${userQuery(user)}`, token: api_key },
  });
}
