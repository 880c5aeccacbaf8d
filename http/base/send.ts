import type { FastifyBaseLogger } from "fastify";
import type { CommandDefinition } from "#events/define.ts";
import { newCommand, type Command, type CommandResult, type Principal } from "#events/envelope.ts";
import { newCommandId } from "#events/ids.ts";
import type { CommandSender } from "#events/ports.ts";
import { currentTrace } from "#events/spans.ts";
import { toTraceHeaders } from "#events/trace.ts";
import type { WaitForProjections } from "#projections/progress.ts";
import { createCounter, type Counter } from "./counter.ts";
import { ApiError, rejectionError } from "./errors.ts";
import type { LogReader } from "./ports.ts";
import { countWait, requestAge } from "./requestTime.ts";

/** After this time the outcome of a command counts as unknown. */
const COMMAND_MS = 15_000;
/** Default wait for the projections. The 503 of a command that must be readable is due within 5 s, including everything before. */
const PROJECTION_MS = 4_500;
/** Minimum wait for the projections, even if the command took long. */
const MIN_PROJECTION_MS = 500;
/** If no projection advances for this time, no projector runs. The wait then ends, unless the answer would be false. */
const STALL_MS = 2_000;
/** How long a command to a busy thread is retried, with exponential backoff from the first wait to the longest. */
const BUSY_MS = 20_000;
const FIRST_BUSY_WAIT_MS = 50;
const MAX_BUSY_WAIT_MS = 800;
/** Beyond this many waiting requests of an organization, each waits longer, so that together they send no more commands a second. */
const MAX_BUSY_AT_FULL_SPEED = 32;
/** Maximum requests of an organization that wait for busy threads; one more is refused. Each holds a connection and its body. */
const MAX_BUSY_WAITS = 1_000;
const BUSY_RETRY_MS = 5_000;

export interface CommandRequest<D> {
  stream: string;
  data: D;
  organization_id: string;
  principal: Principal;
  request_id: string;
  /** Set if the client may repeat the request. Default: a random id. */
  id?: string;
  fingerprint?: string;
  fresh?: boolean;
  keys?: Record<string, string>;
  /** Projections that the caller reads next. The answer waits for them if a projector runs. */
  waitFor?: string[];
  /** Throw 503 if the projections lag. For answers that are false until then, such as that a deleted key no longer works. */
  requireProjected?: boolean;
  /** Aborts when the client disconnects, which ends the retries for a busy thread. */
  signal?: AbortSignal;
}

export interface CommandReceipt extends Pick<CommandResult, "position" | "repeated"> {
  /** Whether the projections in `waitFor` include the command's events. If not, the caller answers from what it sent. */
  projected: boolean;
}
export type Send = <D>(definition: CommandDefinition<string, D>, request: CommandRequest<D>) => Promise<CommandReceipt>;
/** Waits until the projections include all events so far, of one stream or of the whole log. Throws 503 after 5 s. */
export type WaitUntilCurrent = (projections: string[], stream?: string) => Promise<void>;

const buildCommand = <D>(
  definition: CommandDefinition<string, D>,
  request: CommandRequest<D>,
  http: string,
): Command => {
  const { id, stream, data, organization_id, principal, request_id, fingerprint, fresh, keys } = request;
  const waited_ms = Math.round(requestAge());
  const about = { id, stream, organization_id, principal, request_id, fingerprint, fresh, keys, http, waited_ms };
  const command = newCommand(definition.type, { ...about, data, timeout_ms: COMMAND_MS });
  return { ...command, ...toTraceHeaders(currentTrace()) };
};

/** Size of the encoded command in bytes. */
export const commandBytes = <D>(
  definition: CommandDefinition<string, D>,
  request: CommandRequest<D>,
  http: string,
): number => Buffer.byteLength(JSON.stringify(buildCommand(definition, request, http)));

/** The write is durable, but not readable yet. */
export const notReadableYet = () =>
  new ApiError("unavailable", "The change is saved but not readable yet; try again shortly.");

/** The time at which the event at a position was recorded. */
export async function readRecordedAt({ log }: { log: LogReader }, position: number): Promise<Date> {
  const at = await log.recordedAt(position);
  if (!at) throw notReadableYet();
  return at;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface SendNeeds {
  sender: CommandSender;
  waitForProjections: WaitForProjections;
  logger: FastifyBaseLogger;
  httpId: string;
}

/**
 * Creates the function that sends all commands. It waits for the result, and then for the projections that the caller reads. If
 * the projections lag, it still returns, because the answer may contain something that cannot be read later, such as a secret.
 * Throws a rejection as an ApiError, `thread_busy` after retries for 20 s. Throws 429 `rate_limited` if too many requests of the
 * organization wait for busy threads.
 */
export function createSend({ sender, waitForProjections, logger, httpId }: SendNeeds): Send {
  const waiting = createCounter();
  return async (definition, given) => {
    const began = performance.now() - requestAge();
    const request = { ...given, id: given.id ?? newCommandId() };
    const result = await sendWhileBusy(
      () => countWait(() => sender.send(buildCommand(definition, request, httpId))),
      request,
      waiting,
    );
    const stallMs = request.requireProjected ? undefined : STALL_MS;
    const projected = await isProjected(waitForProjections, request.waitFor, result.position, { began, stallMs });
    if (!projected) {
      const { waitFor: projections, request_id } = request;
      logger.warn({ projections, position: result.position, request_id }, "projections lag behind a write");
      if (request.requireProjected) throw notReadableYet();
    }
    return { ...result, projected };
  };
}

/** Retries only `thread_busy`. Other retryable rejections would fail again a moment later, and each attempt leaves a dead letter. */
async function sendWhileBusy(
  send: () => Promise<CommandResult>,
  { organization_id, signal }: Pick<CommandRequest<unknown>, "organization_id" | "signal">,
  waiting: Counter,
): Promise<CommandResult> {
  const giveUpAt = performance.now() + BUSY_MS;
  let counted = 0;
  try {
    for (let backoff = FIRST_BUSY_WAIT_MS; ; backoff = Math.min(backoff * 2, MAX_BUSY_WAIT_MS)) {
      const result = await send();
      if (!result.rejection) return result;
      const others = waiting.count(organization_id) - counted;
      const wait = backoff * Math.max(1, others / MAX_BUSY_AT_FULL_SPEED);
      const isOver = performance.now() + wait > giveUpAt || signal?.aborted;
      if (result.rejection.code !== "thread_busy" || isOver) throw rejectionError(result.rejection);
      if (counted === 0 && others >= MAX_BUSY_WAITS) throw tooManyWaits();
      waiting.add(organization_id, 1 - counted);
      counted = 1;
      await sleep(wait * (0.5 + Math.random() / 2));
    }
  } finally {
    waiting.add(organization_id, -counted);
  }
}

const tooManyWaits = () =>
  new ApiError(
    "rate_limited",
    `${MAX_BUSY_WAITS} requests of the organization wait for threads that are busy; wait for a thread's answer before the next request to it.`,
    { retryAfterMs: BUSY_RETRY_MS },
  );

async function isProjected(
  waitForProjections: WaitForProjections,
  projections: string[] = [],
  position: number,
  { began, stallMs }: { began: number; stallMs?: number | undefined },
): Promise<boolean> {
  if (projections.length === 0 || position === 0) return true;
  const left = Math.max(PROJECTION_MS - (performance.now() - began), MIN_PROJECTION_MS);
  return countWait(() => waitForProjections(projections, position, left, stallMs));
}

/** Whether the projections include a position before the 503 of the current request is due. */
export const isReadableInTime = (
  { waitForProjections }: { waitForProjections: WaitForProjections },
  projections: string[],
  position: number,
): Promise<boolean> =>
  isProjected(waitForProjections, projections, position, { began: performance.now() - requestAge() });

export function createWaitUntilCurrent({
  log,
  waitForProjections,
}: {
  log: LogReader;
  waitForProjections: WaitForProjections;
}): WaitUntilCurrent {
  return async (projections, stream) => {
    const began = performance.now() - requestAge();
    const newest = await log.newestPosition(stream);
    if (newest !== undefined && !(await isProjected(waitForProjections, projections, newest, { began })))
      throw notReadableYet();
  };
}
