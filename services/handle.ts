import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import type { Decider } from "#events/decider.ts";
import type { NewEvent } from "#events/define.ts";
import type { Command, CommandResult } from "#events/envelope.ts";
import { commandDefinitions } from "#events/index.ts";
import { parseStreamName } from "#events/ids.ts";
import { Unavailable, type CommandOutcome, type EventLog, type Hints } from "#events/ports.ts";
import { Rejection } from "#events/rejection.ts";
import { claimStreams, decide, planAppend, planRefusal, type Plan } from "./appendPlan.ts";
import { deciders } from "./deciders/index.ts";
import { checkHolds } from "./holds.ts";
import { checkParent } from "./parentRuns.ts";
import { joinCommands } from "./joinedCommands.ts";
import { createSerializer } from "./serialize.ts";
import { streamStates, type StreamState, type StreamStates } from "./states.ts";
import { traceCommands } from "./traceCommands.ts";

export interface CommittedCommand {
  command: Command;
  events: NewEvent[];
  /** Version of the stream after the events. */
  version: number;
  /** Position of the last event that the command appended, including events of claims. */
  position: number;
}

export interface HandlerOptions {
  log: EventLog;
  /** The time to compare with that of other machines. */
  now?(): number;
  hints: Pick<Hints, "announceCommitted">;
  /** The id of this process, if it has capacity for the work that a command for this aggregate starts. */
  worker(aggregate: string, organization: string): string | undefined;
  /**
   * Starts the work of a command before the commit, and returns the command with the progress so far. The handler calls `release`
   * when the command is handled, even if it failed.
   */
  begin?(command: Command): Promise<{ command: Command; release(): void } | undefined>;
  /** Called before each attempt to append a command's events, which may never be committed. */
  beforeCommit?(organization: string, events: NewEvent[]): void;
  /** Called after the commit, once per command that appended events in this process. */
  afterCommit(committed: CommittedCommand): void;
}

/** Handles a command. Rejections are part of the result. Unavailable, thrown or as a rejection, means that the outcome is unknown. */
export type Handle = (command: Command) => Promise<CommandResult>;

interface Deps extends HandlerOptions {
  now(): number;
  states: StreamStates;
}

/** A command normally arrives within milliseconds. A client whose server died sends its request again after about 400. */
const LATE_MS = 300;
const MAX_CONFLICT_WAIT_MS = 250;
/** How long a request waits while the log accepts no writes. Then its client gets a 503 and may repeat the request. */
const CLIENT_PATIENCE_MS = 3_500;
/**
 * The minimum wait for a command whose client had already waited long when it was sent: replacing a connection to PostgreSQL takes
 * about this long.
 */
const MIN_PATIENCE_MS = 1_000;

const refuse = (message: string): CommandResult => ({
  position: 0,
  repeated: false,
  rejection: { code: "unavailable", message, retryable: true },
});

const ABANDONED = refuse("The process that waited for this is gone.");
const GIVEN_UP = refuse("The log cannot be written at the moment; try again shortly.");

const KEY_REUSED: CommandResult = {
  position: 0,
  repeated: true,
  rejection: {
    code: "idempotency_key_reused",
    message: "This Idempotency-Key was used with another request body; use a new key for a new request.",
    param: "Idempotency-Key",
  },
};

/** The command handler: load, decide, append. Handles the commands of one stream one after the other. */
export function createHandler(options: HandlerOptions): Handle {
  const deps: Deps = { now: currentTime, ...options, states: streamStates(options.log) };
  const serialize = createSerializer();
  return traceCommands((command) => serialize(command.stream, () => handle(deps, command)));
}

/** The command with its data checked, and the decider of its stream. */
function parseCommand(received: Command): { command: Command; decider: Decider<any>; aggregate: string } {
  const { aggregate } = parseStreamName(received.stream);
  const definition = commandDefinitions.get(received.type);
  const decider = deciders[aggregate];
  if (!definition || !decider || definition.aggregate !== aggregate)
    throw new Error(`no ${aggregate} understands ${received.type}`);
  return { command: { ...received, data: definition.schema.parse(received.data) }, decider, aggregate };
}

async function handle(deps: Deps, received: Command): Promise<CommandResult> {
  const { command: parsed, decider, aggregate } = parseCommand(received);
  const command: Command = { ...parsed, worker: deps.worker(aggregate, received.organization_id) };
  // It waited behind other commands of its stream, and its sender has already reported an unknown outcome.
  if (isOverdue(deps, command)) throw new Unavailable(`${command.type} on ${command.stream} waited until its deadline`);
  if (await isAbandoned(deps, command)) return ABANDONED;
  const started = await deps.begin?.(command);
  try {
    // the work may have waited meanwhile
    if (started && (await isAbandoned(deps, command))) return ABANDONED;
    return await appendUntilDeadline(deps, started?.command ?? command, decider);
  } finally {
    started?.release();
  }
}

/** Whether the command's client has waited so long that it gets its 503 now. The service's own commands have no client. */
const isGivenUp = ({ now }: Deps, { http, at, waited_ms = 0 }: Command): boolean =>
  http !== undefined && now() - Date.parse(at) > Math.max(MIN_PATIENCE_MS, CLIENT_PATIENCE_MS - waited_ms);

const isOverdue = ({ now }: Deps, { deadline }: Command): boolean => now() > Date.parse(deadline);

/**
 * Whether a command is abandoned: it was delayed (by a stalled worker or a full queue), and the http process that sent it has died.
 * Its client has repeated the request, so this command must not take effect as well.
 */
async function isAbandoned({ log, now }: Deps, { at, http }: Command): Promise<boolean> {
  if (http === undefined || now() - Date.parse(at) < LATE_MS) return false;
  return !(await log.isAlive(http));
}

async function appendUntilDeadline(deps: Deps, command: Command, decider: Decider<any>): Promise<CommandResult> {
  for (let tries = 0; ; tries++) {
    const result = await attempt(deps, command, decider, tries === 0).catch((error: unknown) => {
      if (!(error instanceof Unavailable) || isOverdue(deps, command)) throw error;
      // whether the append took effect is unknown
      forgetStates(deps, command);
      return isGivenUp(deps, command) ? GIVEN_UP : undefined;
    });
    if (result) return result;
    // others have appended: load the stream again
    forgetStates(deps, command);
    if (isOverdue(deps, command))
      throw new Unavailable(`${command.type} on ${command.stream} conflicted with other writers until its deadline`);
    // Full jitter: writers that collided once must not collide again in step.
    await sleep(Math.random() * Math.min(5 * 2 ** tries, MAX_CONFLICT_WAIT_MS));
  }
}

function forgetStates({ states }: Deps, command: Command): void {
  for (const { stream } of [command, ...(command.joined ?? [])]) states.forget(stream);
}

/** Loads, decides and appends once. Undefined if the command must be decided again on newer state. */
async function attempt(
  deps: Deps,
  command: Command,
  decider: Decider<any>,
  isFirst: boolean,
): Promise<CommandResult | undefined> {
  const { log, states } = deps;
  const before = await states.load(command.stream, decider, { fresh: isFirst && command.fresh === true });
  const own = await makePlan(log, command, decider, before);
  const plan = await joinCommands(states, command, own, (command.joined ?? []).map(parseCommand));
  if (plan.kind === "reload") return undefined;
  if (plan.kind === "retryLater") {
    const outcome = await log.outcome(command.id, command.organization_id);
    if (outcome) return repeatOutcome(command, outcome);
    return { position: 0, repeated: false, rejection: { ...plan.rejection.details(), retryable: true } };
  }
  if (plan.kind === "append") deps.beforeCommit?.(command.organization_id, plan.events);
  const appended = await log.append(plan.append);
  if (appended.kind === "conflict") return undefined;
  if (appended.kind === "repeated") {
    forgetStates(deps, command);
    return repeatOutcome(command, appended.outcome);
  }
  if (plan.kind === "refuse") return { position: 0, repeated: false, rejection: plan.rejection.details() };
  announce(deps, command, plan, appended.last);
  return { position: appended.last, repeated: false };
}

async function makePlan(log: EventLog, command: Command, decider: Decider<any>, before: StreamState): Promise<Plan> {
  const decision = decide(decider, command, before.state);
  const streams = decision instanceof Rejection ? [] : claimStreams(decision);
  const claimHeads = streams.length > 0 ? await log.heads(streams) : new Map();
  const plan = planAppend({ command, decider, before, decision, claimHeads });
  if (plan.kind !== "append") return plan;
  // a command either erases something or starts a run, so at most one of the checks reads other streams
  const held = await checkHolds(log, command.organization_id, command.stream, plan.events);
  const { rejection, unchanged } = held.unchanged.length > 0 ? held : await checkParent(log, plan.events);
  if (rejection) return planRefusal(command, rejection);
  return unchanged.length > 0 ? { ...plan, append: { ...plan.append, unchanged } } : plan;
}

function announce(deps: Deps, command: Command, plan: Extract<Plan, { kind: "append" }>, position: number): void {
  const decided = [{ command, events: plan.events, after: plan.after }, ...plan.joined];
  for (const one of decided) deps.states.remember(one.command.stream, one.after, one.command.organization_id);
  if (position > 0) deps.hints.announceCommitted(position);
  for (const { command: each, events, after } of decided)
    if (events.length > 0) deps.afterCommit({ command: each, events, version: after.version, position });
}

/** A repeated command gets the result of the first one. */
function repeatOutcome({ fingerprint }: Command, outcome: CommandOutcome): CommandResult {
  if (fingerprint && outcome.fingerprint && fingerprint !== outcome.fingerprint) return KEY_REUSED;
  const { position, rejection } = outcome;
  return { position, repeated: true, ...(rejection && { rejection }) };
}
