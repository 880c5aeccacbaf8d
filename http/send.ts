import { newCommandId } from "#events/ids.ts";
import type { Answer, Command, Principal } from "#events/envelope.ts";
import type { CommandDefinition } from "#events/define.ts";
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
  /** No use in trying any longer once this is aborted: the client is gone. */
  signal?: AbortSignal;
}

export type Sent = Pick<Answer, "position" | "repeated">;
export type Send = <D>(definition: CommandDefinition<string, D>, sending: Sending<D>) => Promise<Sent>;
/** Waits until the projections have all of a stream's events so far (5 s at most). */
export type FreshRead = (stream: string, projections: string[]) => Promise<void>;

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

/**
 * The one place that sends a command, waits for its answer, and for the projections that its caller reads; where they do
 * not follow in time it throws a 503. Throws the rejection as an ApiError; one for now (a busy thread) is tried again for 20 s.
 */
export function createSend({ sender, passed, logger, httpId }: Deps): Send {
  return async (definition, asked) => {
    const sending = { ...asked, id: asked.id ?? newCommandId() };
    const giveUpAt = Date.now() + BUSY_MS;
    for (let wait = FIRST_BUSY_WAIT_MS; ; wait = Math.min(wait * 2, LAST_BUSY_WAIT_MS)) {
      const answer = await sender.send(commandOf(definition, sending, httpId));
      if (!answer.rejection) {
        await settle(passed, logger, sending.waitFor, answer.position, sending.request_id);
        return answer;
      }
      const over = Date.now() + wait > giveUpAt || sending.signal?.aborted;
      if (!answer.rejection.retryable || over) throw fromRejection(answer.rejection);
      await pause(wait * (0.5 + Math.random() / 2));
    }
  };
}

async function settle(
  passed: Deps["passed"],
  logger: Deps["logger"],
  names: string[] = [],
  position: number,
  requestId: string,
) {
  if (names.length === 0 || position === 0) return;
  if (await passed(names, position, PROJECTION_MS)) return;
  logger.warn({ projections: names, position, request_id: requestId }, "the projections have not followed yet");
  throw new ApiError("unavailable", "What was written cannot be read yet; try again shortly.");
}

export function createFreshRead({ db, passed, logger }: Deps): FreshRead {
  return async (stream, projections) => {
    const [head] = await db.query<{ position: number }>("select position from log.streams where stream = $1", [stream]);
    if (head) await settle(passed, logger, projections, Number(head.position), "");
  };
}
