import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventFrom } from "#events/define.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { RunContinued, RunCreated, StartRun } from "#events/run.ts";
import type { ContinuedRun } from "#events/runOrigin.ts";
import type { StoredValue } from "#events/runParts.ts";
import { isLive } from "../deciders/runState.ts";
import type { Settlement } from "../deciders/runLinkState.ts";
import type { Send } from "../send.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { History } from "./history.ts";
import { readNewestRun } from "./newestRun.ts";
import { findWorkflow, refuseArgs, type StartDeps } from "./startRun.ts";
import type { TickOutcome } from "./tick.ts";
import { openValues, RunGone } from "./values.ts";

/* `continueAs`: a run ends, and another one continues it with new arguments and an empty history (ADR 57). */

/** Minimum life of a run in a chain: a loop of nothing but `continueAs` starts one run a second. */
const MIN_LIFE_MS = 1_000;

/** Milliseconds until a run may be continued by the next one. */
export const continuationDelay = ({ created }: Pick<History, "created">, now: number): number =>
  Math.max(0, Date.parse(created.created_at) + MIN_LIFE_MS - now);

type RunContinuation = Extract<TickOutcome["end"], { type: "continued" }>;
type PlanDeps = Pick<StartDeps, "log" | "scripts" | "schemas" | "logLimits">;

/** The rules of the next run, taken from the workflow as it is now; or why it cannot be started. */
export async function planContinuation(
  deps: PlanDeps,
  { organization_id, created }: Pick<History, "organization_id" | "created">,
  { args, line, column }: RunContinuation,
  store: (json: string) => Promise<StoredValue>,
) {
  const failed = (code: string, message: string) => ({
    type: "failed" as const,
    code,
    step: null,
    error: { message: `continueAs: ${message}`, line, column },
  });
  const workflow = await findWorkflow(deps, organization_id, created.workflow_id);
  if (!workflow) return failed("workflow_not_found", "the workflow no longer exists.");
  // a loop without an end would write for ever
  const isFull = deps.logLimits.refusal(organization_id);
  const refusal = isFull ?? (await refuseArgs(deps, workflow, JSON.parse(args) as Record<string, unknown>));
  if (refusal) return failed(refusal.code, refusal.message);
  const { definition_version, envelope } = workflow;
  const { limits, approvals, retention_days } = envelope;
  const rules = { definition_version, limits, approvals, retention_days };
  return { type: "continued" as const, args: await store(args), ...rules };
}

export interface ContinuationDeps extends VaultDeps {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  send: Send;
}

type CreatedEvent = EventFrom<typeof RunCreated>;
type ContinuedEvent = EventFrom<typeof RunContinued>;

/** The data of StartRun for the next run. It depends only on the log, so that all processes that start it send the same. */
function nextRun({ data, personal }: CreatedEvent, { data: end }: ContinuedEvent, ended_at: Date, args: StoredValue) {
  const { created_at: _, worker: _worker, parent: _parent, start_place: _start, continued_from, ...settings } = data;
  const { definition_version, limits, approvals, retention_days } = end;
  const continued: ContinuedRun = {
    run_id: data.run_id,
    first_run_id: end.first_run_id,
    nth: (continued_from?.nth ?? 1) + 1,
  };
  return {
    ...settings,
    run_id: end.continued_as,
    definition_version,
    limits,
    approvals,
    retention_days,
    expires_at: new Date(ended_at.getTime() + limits.run_ttl_s * 1_000).toISOString(),
    continued_from: continued,
    args,
    external_user_id: personal!.external_user_id,
    ...(personal!.headers && { headers: personal!.headers }),
  };
}

async function readOne({ log }: ContinuationDeps, { stream, version }: StreamHead, type: string) {
  // a single event, so its size does not matter
  const [event] = await log.readNewest(stream, { before: version + 1, types: [type], limit: 1, bytes: 1 });
  if (!event?.personal) throw new RunGone(`${stream} was destroyed`);
  return event;
}

/** Leaves out child runs that have ended, because a chain is endless and its list must not grow without limit. */
async function findLive({ log }: ContinuationDeps, children: string[]): Promise<string[]> {
  const live: string[] = [];
  for (const run_id of children) {
    const newest = await readNewestRun(log, run_id);
    // a start in progress is not in the log yet
    if (!newest || newest.isHandingOver || isLive(newest.state)) live.push(run_id);
  }
  return live;
}

/** Starts the run that continues an ended one. Idempotent: its id derives from the ended run. */
export async function startNextRun(
  deps: ContinuationDeps,
  head: StreamHead,
  { run_id, watchers, children = [] }: NonNullable<Settlement["next"]>,
): Promise<void> {
  const { organization_id } = head;
  const target = { organization_id, stream: streamName("run", run_id) };
  if ((await deps.log.heads([target.stream])).has(target.stream)) return;
  const created = (await readOne(deps, head, RunCreated.type)) as unknown as CreatedEvent;
  const ended = await readOne(deps, head, RunContinued.type);
  const { personal } = ended as unknown as ContinuedEvent;
  const json = await openValues(deps, head).json(personal!.args);
  const data = nextRun(created, ended as unknown as ContinuedEvent, ended.recorded_at, { json });
  const { rejection } = await deps.send(target, StartRun.type, {
    ...data,
    watchers,
    children: await findLive(deps, children),
  });
  if (rejection && rejection.code !== "run_exists")
    throw new Error(`${parseStreamName(head.stream).id} cannot go on: ${rejection.message}`);
}
