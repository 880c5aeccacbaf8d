import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { newId, streamOf } from "#events/ids.ts";
import type { TurnEnd } from "#events/ports.ts";
import { scopeOf } from "#events/scope.ts";
import { StartTurn, type Prompt } from "#events/thread.ts";
import { getTurn, turnStartedAt } from "#projections/turns/query.ts";
import type { Http } from "../deps.ts";
import { commandBytes, type Sending } from "../send.ts";
import { ApiError } from "../errors.ts";
import { madeBefore } from "../idempotency.ts";
import { promptOf, type Ask } from "./ask.ts";
import { openFeed, type Feed } from "./feed.ts";
import { putBlob, storeMessages, type TurnBlobs } from "./store.ts";
import { endOf, type TurnInHand } from "./turn.ts";
import { noteUnanswered, takeOver } from "./unanswered.ts";

const MAX_COMMAND_BYTES = 256 * 1024;
/** A body this small cannot make a command that large: encoding a prompt anew adds ids and sizes only. */
const SURELY_SMALL = 128 * 1024;
/** A collection may be named by a single letter and is passed on by its id. */
const ID_BYTES = 40;
/** A reader of a stream sees the turn go on, so it may take longer than one that is waited for in silence. */
const STREAMED_FACTOR = 6;
const PROJECTION_MS = 5_000;

/** What decides which turn a request is: the same request under the same key is the same turn. */
export interface Identity {
  command_id: string;
  fingerprint: string;
  /** Whether the client named the request with a key. */
  named: boolean;
  /** The thread to go on with. */
  thread_id: string | undefined;
}

/** A turn with the feed of its frames; `end` when it had ended before. */
export interface Begun {
  turn: TurnInHand;
  feed: Feed;
  end: TurnEnd | undefined;
}

const limitMs = (http: Pick<Http, "settings">, streamed: boolean): number =>
  http.settings.TURN_SECONDS * 1000 * (streamed ? STREAMED_FACTOR : 1);

/** Sends StartTurn, its frames already subscribed to. Throws the rejection. */
export async function beginTurn(
  http: Http,
  request: FastifyRequest,
  ask: Ask,
  identity: Identity,
  gone: AbortSignal,
): Promise<Begun> {
  const { organization_id, principal } = request.caller;
  const { command_id, fingerprint } = identity;
  const { model, streamed, include_usage } = ask;
  // Never from the command: a request that is run anew after a refusal is another turn, with a data key and blobs of its own,
  // and a key that is used again when its outcome is forgotten names another thread.
  const turn_id = newId();
  const thread_id = identity.thread_id ?? newId();
  const continues = identity.thread_id !== undefined;
  const { agent } = ask;
  const scope = scopeOf(principal, ask.user, agent?.agent_id);
  const limit = ask.limit_ms ?? limitMs(http, streamed);
  const ends_by = Math.floor(Date.now() / 1000) * 1000 + limit;
  const data = {
    turn_id,
    scope,
    model,
    streamed,
    ends_by: new Date(ends_by).toISOString(),
    continues,
    ...(agent && { agent }),
  };
  const sending = (input: Input, keys?: Record<string, string>) => ({
    stream: streamOf("thread", thread_id),
    organization_id,
    principal,
    request_id: request.id,
    id: command_id,
    fingerprint,
    fresh: !continues,
    keys,
    signal: gone,
    data: { ...data, input },
  });
  // files belong to key and user, whatever agent they are shown to (spec: Authentication, rule 5)
  const blobs = { organization_id, scope: scopeOf(principal, ask.user), thread_id, turn_id };
  const start = await prepare(http, ask, blobs, request.bodyBytes, sending);

  const feed = openFeed(http.frames, organization_id, turn_id);
  try {
    const sent = await http.send(StartTurn, start);
    if (sent.repeated) {
      feed.close();
      const thread_id = await madeBefore(http.db, organization_id, command_id, fingerprint);
      return await rejoinTurn(http, ask, { organization_id, command_id, thread_id, position: sent.position });
    }
  } catch (error) {
    feed.close();
    throw error;
  }
  const created = (ends_by - limit) / 1000;
  return {
    feed,
    end: undefined,
    turn: { organization_id, turn_id, thread_id, command_id, model, include_usage, created, ends_by },
  };
}

type Input = { prompt: Prompt } | { prompt_blob: string };
type Start = Sending<z.infer<typeof StartTurn.schema>>;

/** Copies what is attached, and puts the prompt into a blob where the command would get too large. */
async function prepare(
  http: Http,
  ask: Ask,
  blobs: Omit<TurnBlobs, "key">,
  bodyBytes: number,
  sending: (input: Input, keys?: Record<string, string>) => Start,
): Promise<Start> {
  const thing = streamOf("turn", blobs.turn_id);
  const withFiles = ask.messages.some(({ files }) => files.length > 0);
  const ids = ask.settings.knowledge?.collections.length ?? 0;
  // an agent brings its instructions, and its thread the vars of earlier requests
  const brought = ask.agent ? Buffer.byteLength(JSON.stringify(ask.settings)) : 0;
  if (!withFiles && bodyBytes + brought + ids * ID_BYTES <= SURELY_SMALL) {
    return sending({
      prompt: promptOf(
        ask,
        ask.messages.map(({ role, text }) => ({ role, text, attachments: [] })),
      ),
    });
  }
  const turn = { ...blobs, key: http.keyring.create(thing) };
  const keys = { [thing]: turn.key };
  const prompt = promptOf(ask, await storeMessages(http, turn, ask.messages));
  const inline = sending({ prompt }, keys);
  if (commandBytes(StartTurn, inline, http.httpId) <= MAX_COMMAND_BYTES) return inline;
  return sending({ prompt_blob: await putBlob(http, turn, Buffer.from(JSON.stringify(prompt))) }, keys);
}

/** A turn that the same request began before, by the thread and the position that it started at. */
export interface Earlier {
  organization_id: string;
  command_id: string;
  thread_id: string;
  position: number;
}

type Usage = Pick<Ask, "include_usage">;

const threadDeleted = () =>
  new ApiError("thread_not_found", "The thread of this request was deleted.", { param: "x-thread-id" });

/** Takes up a turn that an earlier request began. Throws 503 while it cannot be read; then the next retry may do so. */
export async function rejoinTurn(http: Http, ask: Usage, earlier: Earlier): Promise<Begun> {
  try {
    return await takeUp(http, ask, earlier);
  } catch (error) {
    await noteUnanswered(http, earlier);
    throw error;
  }
}

async function takeUp(http: Http, ask: Usage, earlier: Earlier): Promise<Begun> {
  const { organization_id, command_id, thread_id, position } = earlier;
  if (!(await http.passed(["turns"], position, PROJECTION_MS)))
    throw new ApiError("unavailable", "The turn of this request has begun, but cannot be read yet; try again shortly.");
  await takeOver(http, earlier);
  const turn_id = await turnStartedAt(http.db, organization_id, thread_id, position);
  if (!turn_id) throw threadDeleted();
  const feed = openFeed(http.frames, organization_id, turn_id);
  try {
    return await attach(http, ask, { organization_id, command_id, turn_id }, feed);
  } catch (error) {
    feed.close();
    throw error;
  }
}

async function attach(
  http: Http,
  ask: Usage,
  { organization_id, command_id, turn_id }: { organization_id: string; command_id: string; turn_id: string },
  feed: Feed,
): Promise<Begun> {
  const row = await getTurn(http.db, organization_id, turn_id);
  if (!row) throw threadDeleted();
  const end = endOf(row);
  // the feed asks again for what is missing as soon as it hears the next frame
  if (!end) await feed.catchUp().catch(() => {});
  const { thread_id, model } = row;
  const ends_by = row.ends_by.getTime();
  const created = (ends_by - limitMs(http, row.streamed)) / 1000;
  return {
    feed,
    end,
    turn: {
      organization_id,
      turn_id,
      thread_id,
      command_id,
      model,
      include_usage: ask.include_usage,
      created,
      ends_by,
    },
  };
}
