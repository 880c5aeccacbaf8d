import type { FastifyRequest } from "fastify";
import { currentTime } from "#events/clock.ts";
import type { Principal } from "#events/envelope.ts";
import type { InheritedCall } from "#events/inheritedCalls.ts";
import { newId, parseStreamName, streamName } from "#events/ids.ts";
import {
  MAX_SLOT_ATTEMPTS,
  runSettings,
  tooManyRuns,
  tooManyStarts,
  untilNextPeriod,
  WORKFLOW_DISABLED,
  type StartableWorkflow,
} from "#events/newRun.ts";
import { StartRun } from "#events/run.ts";
import { principalOf, type Actor, type ParentRun, type StarterRun } from "#events/runOrigin.ts";
import type { Priority, RunAs } from "#events/workflow.ts";
import type { Http } from "../base/deps.ts";
import { ApiError, rejectionError } from "../base/errors.ts";
import {
  createOnce,
  identifyParts,
  nextCommand,
  findPreviousOutcome,
  type IdempotentRequest,
} from "../base/idempotency.ts";
import { markUser, runWithinLimits } from "../base/limits.ts";
import { loadArgsSchema } from "./argsSchema.ts";
import { pickSlot, pickStart } from "./concurrencySlots.ts";
import { violationMessage } from "#events/violationMessage.ts";
import { deleteInput, storeInput, type StoredInput } from "./runValues.ts";

export interface RunRequest {
  request: FastifyRequest;
  principal: Principal;
  /** Path below /api/workflows. Together with the principal and the key it identifies the request. */
  path: string;
  /** The client's idempotency key. */
  key: string | undefined;
  /** Hash of everything that must be equal in a repetition under the same key. */
  body: string;
  /** Request headers that `run()` receives. */
  headers?: Record<string, string>;
  /** Ids of the files given to the run. */
  files?: string[] | undefined;
  /** Checks that apply only to a new run. A repetition finds its run whatever has changed since. */
  readMore?(): Promise<{
    /** Priority of this run, not higher than the workflow's. */
    priority: Priority | undefined;
    files: string[];
  }>;
  args: Record<string, unknown>;
  started_by: Actor;
  /** Who set up the trigger, for a run that a trigger starts. */
  trigger_set_by?: Actor;
  trigger_id: string | null;
  run_as: RunAs;
  external_user_id: string | null;
  /** Set for a retry or a fork. */
  inheritance?: Inheritance;
}

/** A checked request whose run does not exist yet. */
type NewRun = Omit<RunRequest, "readMore"> & { priority?: Priority | undefined };

/** What a retry or a fork takes over from its parent. */
interface Inheritance {
  parent: ParentRun;
  /** The run that started the parent. */
  starter: StarterRun | undefined;
  /** The inherited answers. */
  calls: () => AsyncIterable<InheritedCall>;
  /** The new run's id if it is derived from its parent, so that there is at most one such run. */
  run_id: string | undefined;
}

function identifyStart(organization_id: string, start: RunRequest): IdempotentRequest {
  const { principal, path, key, body, external_user_id } = start;
  return identifyParts({
    organization_id,
    principal,
    path: `/api/workflows${path}`,
    key,
    body,
    more: external_user_id === null ? [] : [external_user_id],
  });
}

/** A command that lost its slot is recorded as rejected, so the next attempt needs another id. */
const nextAttempt = (identity: IdempotentRequest) => nextCommand(identity, "another place");

/** Returns the run that an earlier delivery started, or the identity for the next attempt. Throws the earlier rejection. */
async function resumeStart(
  http: Http,
  identity: IdempotentRequest,
): Promise<{ run_id: string } | { next: IdempotentRequest }> {
  for (let next = identity; ; next = nextAttempt(next)) {
    const outcome = await findPreviousOutcome(http, next);
    if (!outcome) return { next };
    if (outcome.event) return { run_id: parseStreamName(outcome.event.stream).id };
    if (outcome.rejection && outcome.rejection.code !== "slot_taken") throw rejectionError(outcome.rejection);
  }
}

const exists = async ({ log }: Pick<Http, "log">, run_id: string): Promise<boolean> =>
  (await log.publicData(streamName("run", run_id), 1)) !== undefined;

/** Builds the data of StartRun. */
function buildRun(workflow: StartableWorkflow, start: NewRun, run_id: string, { args, inherited }: StoredInput) {
  return {
    ...runSettings(workflow, { ...start, run_id }),
    args,
    ...(start.inheritance && { parent: start.inheritance.parent, starter: start.inheritance.starter, inherited }),
    external_user_id: start.external_user_id,
    ...(start.headers && Object.keys(start.headers).length > 0 && { headers: start.headers }),
    ...(start.files && start.files.length > 0 && { files: start.files }),
  };
}

function tooManyStartsError({ envelope }: StartableWorkflow): ApiError {
  const rate = envelope.start_rate!;
  const retryAfterMs = untilNextPeriod(rate, currentTime());
  return new ApiError("start_rate_limited", tooManyStarts(rate), { retryAfterMs });
}

const tooManyRunsError = ({ envelope }: StartableWorkflow): ApiError =>
  new ApiError("too_many_live_runs", tooManyRuns(envelope.concurrency!));

/** A slot for a live run, and a start of the current period. Null and absent if the workflow does not limit them. */
interface Places {
  slot: string | null;
  start_place?: string;
}

/** Creates a run in free places; tries others if a concurrent run took them. Throws 429 `too_many_live_runs`, `start_rate_limited`. */
async function createInFreePlaces<R>(
  http: Http,
  workflow: StartableWorkflow,
  args: NewRun["args"],
  first: IdempotentRequest,
  create: (identity: IdempotentRequest, places: Places) => Promise<R>,
): Promise<R> {
  let identity = first;
  for (let attempt = 0; attempt < MAX_SLOT_ATTEMPTS; attempt++, identity = nextAttempt(identity)) {
    const slot = await pickSlot(http, workflow, args);
    if (slot === undefined) break;
    const start_place = await pickStart(http, workflow, args);
    if (start_place === undefined) throw tooManyStartsError(workflow);
    try {
      return await create(identity, { slot, ...(start_place !== null && { start_place }) });
    } catch (error) {
      if (!(error instanceof ApiError && error.errorCode === "slot_taken")) throw error;
    }
  }
  throw workflow.envelope.concurrency ? tooManyRunsError(workflow) : tooManyStartsError(workflow);
}

/** Stores the input of a run, and sends StartRun. Returns the id of the run, which an earlier request may have started. */
async function sendStart(
  http: Http,
  workflow: StartableWorkflow,
  start: NewRun,
  identity: IdempotentRequest,
): Promise<string> {
  const { organization_id } = workflow;
  const { principal, request, inheritance, started_by } = start;
  const run_id = inheritance?.run_id ?? newId();
  const input = await storeInput(http, { organization_id, run_id }, JSON.stringify(start.args), inheritance?.calls());
  const user_mark = markUser(http, organization_id, start.external_user_id ?? undefined);
  const data = { ...buildRun(workflow, start, run_id, input), ...(user_mark !== null && { user_mark }) };
  // a retry counts as a run of those who started its parent
  const spender = {
    organization_id,
    principal: principalOf(started_by),
    project_id: workflow.project_id,
    agent_id: null,
    user_mark,
  };
  const admission = { request, spender, wanted: { runs: 1 } };
  const { keys } = input;
  const command = { stream: streamName("run", run_id), principal, request_id: request.id, ...(keys && { keys }) };
  try {
    const started = await createInFreePlaces(http, workflow, start.args, identity, (attempt, places) =>
      runWithinLimits(http, admission, () =>
        createOnce(http, StartRun, { ...command, ...attempt, data: { ...data, ...places } }),
      ),
    );
    if (!started.isNew) await deleteInput(http, input);
    return started.created_id;
  } catch (error) {
    // without an answer the run may have started, with this input
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    await deleteInput(http, input);
    if (error.errorCode === "run_exists") return run_id;
    throw error;
  }
}

/**
 * Starts a run and returns its id once it is recorded. A repeated request, or retry of a run, gets the run that it started, even if
 * the workflow has changed since. Throws 409 `workflow_disabled`, 400 `invalid_args`, 429 `too_many_live_runs`, `start_rate_limited`.
 */
export async function startRun(http: Http, workflow: StartableWorkflow, sent: RunRequest): Promise<string> {
  const earlier = await resumeStart(http, identifyStart(workflow.organization_id, sent));
  if ("run_id" in earlier) return earlier.run_id;
  const derivedId = sent.inheritance?.run_id;
  if (derivedId !== undefined && (await exists(http, derivedId))) return derivedId;
  const start: NewRun = { ...sent, ...(await sent.readMore?.()) };
  if (!workflow.enabled) throw new ApiError("workflow_disabled", WORKFLOW_DISABLED);
  const schema = await loadArgsSchema(http, workflow);
  const violation = await http.schemas.check(workflow.organization_id, schema, start.args);
  if (violation) {
    const { pointer } = violation;
    // the whole body sent to a trigger is arguments
    const isPayload = start.trigger_id !== null && !start.inheritance;
    const [where, param] = isPayload ? [pointer, pointer] : [`args${pointer}`, `/args${pointer}`];
    const message = violationMessage(where || "The arguments", violation);
    throw new ApiError("invalid_args", message, { param: param || null });
  }
  return sendStart(http, workflow, start, earlier.next);
}
