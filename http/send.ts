import { newCommandId } from "#events/ids.ts";
import type { Answer, Command, Principal } from "#events/envelope.ts";
import type { CommandDefinition } from "#events/define.ts";
import { currentTrace } from "#events/spans.ts";
import { tracedBy } from "#events/trace.ts";
import { ApiError, fromRejection } from "./errors.ts";
import type { HttpDeps } from "./deps.ts";

/** How long a command may be tried before its outcome counts as unknown. */
const COMMAND_MS = 15_000;
const PROJECTION_MS = 5_000;
const BUSY_MS = 20_000;
const FIRST_BUSY_WAIT_MS = 50;
const LAST_BUSY_WAIT_MS = 800;

export interface Sending<D> {
  stream: string;
  data: D;
  organization_id: string;
  principal: Principal;
  request_id: string;
  /** Set where the same request may come again; else the command is like no other. */
  id?: string;
  fingerprint?: string;
  fresh?: boolean;
  keys?: Record<string, string>;
  /** Projections that the caller reads next. */
  waitFor?: string[];
  /** The answer promises what only those projections can keep, such as that a key has stopped: without them it is a 503. */
  mustFollow?: boolean;
  /** No use in trying any longer once this is aborted: the client is gone. */
  signal?: AbortSignal;
}

export interface Sent extends Pick<Answer, "position" | "repeated"> {
  /** Whether the projections that were waited for have it; else the caller answers from what it knows. */
  followed: boolean;
}
export type Send = <D>(definition: CommandDefinition<string, D>, sending: Sending<D>) => Promise<Sent>;
/** Waits until the projections have all events so far, of a stream or of all; throws a 503 after 5 s. */
export type FreshRead = (projections: string[], stream?: string) => Promise<void>;

const commandOf = <D>(definition: CommandDefinition<string, D>, sending: Sending<D>, http: string): Command => {
  const now = Date.now();
  const { id, stream, data, organization_id, principal, request_id, fingerprint, fresh, keys } = sending;
  return {
    id: id ?? newCommandId(),
    type: definition.type,
    stream,
    organization_id,
    principal,
    at: new Date(now).toISOString(),
    deadline: new Date(now + COMMAND_MS).toISOString(),
    request_id,
    data,
    http,
    ...tracedBy(currentTrace()),
    ...(fingerprint && { fingerprint }),
    ...(fresh && { fresh }),
    ...(keys && { keys }),
  };
};

/** How long the command will be on its way. */
export const commandBytes = <D>(definition: CommandDefinition<string, D>, sending: Sending<D>, http: string): number =>
  Buffer.byteLength(JSON.stringify(commandOf(definition, sending, http)));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Deps = Pick<HttpDeps, "sender" | "passed" | "logger" | "httpId" | "db">;

/** What was written is there to stay, and cannot be shown. */
export const notReadable = () => new ApiError("unavailable", "What was written cannot be read yet; try again shortly.");

/** When the event at a position was recorded. */
export async function writtenAt({ db }: Pick<HttpDeps, "db">, position: number): Promise<Date> {
  const [row] = await db.query<{ recorded_at: Date }>("select recorded_at from log.events where position = $1", [
    position,
  ]);
  if (!row) throw notReadable();
  return row.recorded_at;
}

/**
 * The one place that sends a command, waits for its answer, and for the projections that its caller reads. A write whose
 * read models lag is answered all the same: its answer may hold what cannot be had again, such as a secret.
 * Throws the rejection as an ApiError; one for now (a busy thread) is tried again for 20 s.
 */
export function createSend({ sender, passed, logger, httpId }: Deps): Send {
  return async (definition, asked) => {
    const sending = { ...asked, id: asked.id ?? newCommandId() };
    const giveUpAt = Date.now() + BUSY_MS;
    for (let wait = FIRST_BUSY_WAIT_MS; ; wait = Math.min(wait * 2, LAST_BUSY_WAIT_MS)) {
      const answer = await sender.send(commandOf(definition, sending, httpId));
      if (!answer.rejection) {
        const followed = await follows(passed, sending.waitFor, answer.position);
        if (!followed) {
          const { waitFor: projections, request_id } = sending;
          logger.warn({ projections, position: answer.position, request_id }, "the projections have not followed yet");
          if (sending.mustFollow) throw notReadable();
        }
        return { ...answer, followed };
      }
      const over = Date.now() + wait > giveUpAt || sending.signal?.aborted;
      // Others that may be tried again would not come out otherwise a moment later, and leave a dead letter each time.
      if (answer.rejection.code !== "thread_busy" || over) throw fromRejection(answer.rejection);
      await pause(wait * (0.5 + Math.random() / 2));
    }
  };
}

async function follows(passed: Deps["passed"], names: string[] = [], position: number): Promise<boolean> {
  return names.length === 0 || position === 0 || passed(names, position, PROJECTION_MS);
}

const HEAD_OF_STREAM = "select position from log.streams where stream = $1";
const HEAD_OF_LOG = "select position from log.head";

export function createFreshRead({ db, passed }: Pick<Deps, "db" | "passed">): FreshRead {
  return async (projections, stream) => {
    const [head] = stream
      ? await db.query<{ position: number }>(HEAD_OF_STREAM, [stream])
      : await db.query<{ position: number }>(HEAD_OF_LOG);
    if (head && !(await follows(passed, projections, Number(head.position)))) throw notReadable();
  };
}
