import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import { newCommand, type Command, type CommandResult } from "#events/envelope.ts";
import { claimStream, streamName } from "#events/ids.ts";
import {
  MAX_SLOT_ATTEMPTS,
  runSettings,
  slotClaim,
  slotNames,
  startClaim,
  nameAllowedStarts,
  tooManyRuns,
  tooManyStarts,
  WORKFLOW_DISABLED,
  type StartableWorkflow,
} from "#events/newRun.ts";
import type { LogLimits } from "#events/logLimits.ts";
import type { EventLog } from "#events/ports.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import { StartRun } from "#events/run.ts";
import type { Refusal } from "#events/runLinks.ts";
import type { Keyring } from "#events/vault.ts";
import { violationMessage } from "#events/violationMessage.ts";
import { workflow as workflowDecider, type WorkflowState } from "../deciders/workflow.ts";
import type { Handle } from "../handle.ts";
import { findHead, readState } from "../states.ts";
import { ScriptGone, type ScriptStore } from "./script.ts";

/* Starts of runs by the service itself: by a schedule, and by another run. */

/** Maximum wait for read models, which count a run for a moment after its end, and the time between two looks. */
const [MAX_LAG_MS, LOOK_MS] = [3_000, 100];
/** How long the log may be unavailable before the outcome of a command counts as unknown. */
export const START_TIMEOUT_MS = 10_000;

export interface StartDeps {
  log: Pick<EventLog, "heads" | "read">;
  handle: Handle;
  worker: string;
  scripts: ScriptStore;
  schemas: SchemaChecker;
  keyring: Pick<Keyring, "keyedHash">;
  admitRun: AdmitRun;
  logLimits: Pick<LogLimits, "refusal">;
}
/** Checks the budget limits for one more run. `runs`: 0 asks whether there is room for it once another run has ended. */
export type AdmitRun = (
  run: { organization_id: string; project_id: string | null },
  runs?: 0 | 1,
) => Promise<{ refused: string } | { admitted: { settle(position: number): void; withdraw(): void } }>;

/** A run to start. Its id and the ids of its commands derive from its cause, so that it starts only once. */
export interface NewRun extends Omit<Parameters<typeof runSettings>[1], "run_as"> {
  /** JSON. */
  args: string;
  /** Overrides the identity that the envelope names. */
  run_as: Parameters<typeof runSettings>[1]["run_as"] | null;
  /** `attempt` counts attempts to claim a concurrency slot. */
  commandId(attempt: number): string;
  /** More fields of StartRun. */
  more?: object;
  /** Commands that take effect together with the start. If one cannot, the start is refused with `joined_command_refused`. */
  joined?: Command[] | undefined;
  /** Ends a live run for this one. Called when all checks have passed, except that of the limit of live runs. */
  beforeStart?: (() => Promise<void>) | undefined;
  /** The start takes effect until then (`performance.now()`) or never. Default: START_TIMEOUT_MS after all checks have passed. */
  start_by?: number;
}

/** A workflow of the organization in its current state. */
export async function findWorkflow(
  { log }: { log: Pick<EventLog, "heads" | "read"> },
  organization_id: string,
  id: string,
): Promise<StartableWorkflow | undefined> {
  const stream = streamName("workflow", id);
  const head = await findHead(log, stream);
  if (head?.organization_id !== organization_id) return undefined;
  const { state }: { state: WorkflowState } = await readState(log, head, workflowDecider);
  return state.status === "registered" ? { ...state, id, organization_id } : undefined;
}

/** Why arguments do not match the newest code of a workflow; undefined if they do. */
export async function refuseArgs(
  { scripts, schemas }: Pick<StartDeps, "scripts" | "schemas">,
  workflow: StartableWorkflow,
  args: Record<string, unknown>,
): Promise<Refusal | undefined> {
  try {
    const { args_schema } = await scripts(workflow);
    const violation = await schemas.check(workflow.organization_id, args_schema, args);
    if (!violation) return undefined;
    return { code: "invalid_args", message: violationMessage(`args${violation.pointer}`, violation) };
  } catch (error) {
    if (!(error instanceof ScriptGone)) throw error;
    return { code: "definition_not_found", message: error.message };
  }
}

/** A random one of the names that no run holds; undefined when all are taken. */
async function pickFree({ log }: StartDeps, names: string[], claimOf: (name: string) => string) {
  const claims = await log.heads(names.map((name) => claimStream(claimOf(name))));
  const free = names.filter((name) => !claims.get(claimStream(claimOf(name)))?.state);
  return free[Math.floor(Math.random() * free.length)];
}

/** A free start of the period; null if the workflow does not limit them. */
async function pickStart(deps: StartDeps, workflow: StartableWorkflow, args: Record<string, unknown>) {
  const { start_rate } = workflow.envelope;
  if (!start_rate) return null;
  const starts = nameAllowedStarts(deps.keyring.keyedHash, workflow, start_rate, args, currentTime());
  return pickFree(deps, starts, startClaim);
}

/** A free slot and a free start of the period, as the workflow's limits require, or why there is none. */
async function pickPlaces(deps: StartDeps, workflow: StartableWorkflow, args: Record<string, unknown>) {
  const { concurrency, start_rate } = workflow.envelope;
  const { keyedHash } = deps.keyring;
  const slot = concurrency && (await pickFree(deps, slotNames(keyedHash, workflow, concurrency, args), slotClaim));
  if (slot === undefined) return tooMany(workflow);
  const start_place = await pickStart(deps, workflow, args);
  if (start_place === null) return { slot };
  return start_place === undefined ? tooMany(workflow, start_rate) : { slot, start_place };
}

/** The refusal by a limit that would also refuse the start once the live run has ended. */
async function refuseStart(deps: StartDeps, workflow: StartableWorkflow, args: Record<string, unknown>) {
  if ((await pickStart(deps, workflow, args)) === undefined) return tooMany(workflow, workflow.envelope.start_rate);
  const room = await deps.admitRun(workflow, 0);
  if ("refused" in room) return { code: "rate_limited", message: room.refused };
  room.admitted.withdraw();
  return undefined;
}

/** The refusal for the limit without room. After repeated lost races it may be either of the two. */
function tooMany({ envelope }: StartableWorkflow, rate = envelope.concurrency ? null : envelope.start_rate): Refusal {
  if (rate) return { code: "start_rate_limited", message: tooManyStarts(rate) };
  return { code: "too_many_live_runs", message: tooManyRuns(envelope.concurrency!) };
}

/** Room for the run in the budgets. If it replaces a live run, waits until they no longer count that one. */
async function requestRoom({ admitRun }: StartDeps, workflow: StartableWorkflow, { beforeStart }: NewRun) {
  const giveUpAt = performance.now() + (beforeStart ? MAX_LAG_MS : 0);
  for (;;) {
    const room = await admitRun(workflow);
    if ("admitted" in room || performance.now() >= giveUpAt) return room;
    await sleep(LOOK_MS);
  }
}

/** Sends StartRun, with another slot while others take the free ones. */
async function sendStart(
  deps: StartDeps,
  workflow: StartableWorkflow,
  run: NewRun,
  args: Record<string, unknown>,
): Promise<Refusal | undefined> {
  const settings = runSettings(workflow, { ...run, run_as: run.run_as ?? workflow.envelope.run_as });
  const input = { args: { json: run.args }, external_user_id: null };
  const { start_by = performance.now() + START_TIMEOUT_MS } = run;
  for (let attempt = 0; attempt < MAX_SLOT_ATTEMPTS; attempt++) {
    const places = await pickPlaces(deps, workflow, args);
    if ("code" in places) return places;
    const room = await requestRoom(deps, workflow, run);
    if ("refused" in room) return { code: "rate_limited", message: room.refused };
    const { position, rejection }: CommandResult = await deps.handle(
      newCommand(StartRun.type, {
        id: run.commandId(attempt),
        stream: streamName("run", run.run_id),
        organization_id: workflow.organization_id,
        request_id: deps.worker,
        timeout_ms: start_by - performance.now(),
        fresh: true,
        ...(run.joined && { joined: run.joined }),
        data: { ...settings, ...input, ...places, ...run.more },
      }),
    );
    if (rejection) room.admitted.withdraw();
    else room.admitted.settle(position);
    if (!rejection || rejection.code === "run_exists") return undefined;
    if (rejection.code !== "slot_taken") return { code: rejection.code, message: rejection.message };
  }
  return tooMany(workflow);
}

/** Starts a run. Returns the refusal, if any. Throws Unavailable. */
export async function startWorkflowRun(
  deps: StartDeps,
  workflow: StartableWorkflow,
  run: NewRun,
): Promise<Refusal | undefined> {
  if (!workflow.enabled) return { code: "workflow_disabled", message: WORKFLOW_DISABLED };
  const isFull = deps.logLimits.refusal(workflow.organization_id);
  if (isFull) return isFull;
  const args = JSON.parse(run.args) as Record<string, unknown>;
  const refusal = await refuseArgs(deps, workflow, args);
  if (refusal) return refusal;
  if (run.beforeStart) {
    // a start that is refused must not cost a live run
    const early = await refuseStart(deps, workflow, args);
    if (early) return early;
    await run.beforeStart();
  }
  return sendStart(deps, workflow, run, args);
}
