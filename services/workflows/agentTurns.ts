import { currentTime } from "#events/clock.ts";
import { newCommand, type RecordedEvent } from "#events/envelope.ts";
import type { AgentAnswer } from "#events/inheritedCalls.ts";
import { isUuid, streamName } from "#events/ids.ts";
import { Unavailable, type TurnEnd } from "#events/ports.ts";
import type { Route } from "#events/route.ts";
import type { Refusal } from "#events/runLinks.ts";
import { askerOf } from "#events/runOrigin.ts";
import { runScope } from "#events/scope.ts";
import { StartTurn, TurnStarted, type TurnAgent } from "#events/thread.ts";
import { spendingOf } from "#events/turnEnd.ts";
import { HOUR_MS } from "#events/units.ts";
import type { StartingRun } from "./childRuns.ts";
import { agentOutput, prepareAgentTurn, type AgentDeps } from "./host/agent.ts";
import { spenderOf } from "./host/admitTurn.ts";
import { buildStart, findRoute, isTurnStart } from "./host/turnStart.ts";
import type { TurnOwner } from "./host/step.ts";
import { invalidInput, parseInput } from "./host/input.ts";
import { isOfOwnRuns } from "./host/ownRun.ts";
import { readRunEnvelope } from "./host/permissions.ts";
import { readTurnBounds } from "../turns/turnEvents.ts";
import { findTurnEnd } from "./host/turnEnd.ts";
import { StepFailure } from "./tick.ts";

/* Turns of agents that `run()` asks for. The run parks meanwhile, and the end of the turn answers its call (ADR 45). */

const COMMAND_TIMEOUT_MS = 15_000;
/** A reaction reports the end of a turn. The run looks by itself in case the bus lost the report. */
const FIRST_LOOK_MS = 120_000;
/** Interval of later looks. It is long, because a turn may wait for a person for weeks. */
const LOOK_MS = HOUR_MS;

/** A turn that a call of `run()` asks for. */
export interface NewAgentTurn {
  turn_id: string;
  thread_id: string;
  /** The id or the name of its agent. */
  agent: string;
  /** JSON of `{input, vars}`. */
  request: string;
  /** Whether it continues the thread of an earlier turn. */
  continues: boolean;
}

/** `later`: a limit per minute or on concurrency has no room now. */
type AgentTurnStart = { agent_id: string } | { refused: Refusal } | { later: number };

/** Starts a turn. Idempotent. Throws Unavailable. */
export type StartAgentTurn = (run: StartingRun, turn: NewAgentTurn) => Promise<AgentTurnStart>;

export const firstLookTime = (): string => new Date(currentTime() + FIRST_LOOK_MS).toISOString();
export const nextLookTime = (): string => new Date(currentTime() + LOOK_MS).toISOString();

/** JSON of the answer to a call whose turn could not start, or has ended. */
export const refusedAnswer = ({ code, message }: Refusal): string =>
  JSON.stringify({ ok: false, error: { code, message: `agent: ${message}` } } satisfies AgentAnswer);

/** Undefined while the turn runs, or before it has started. */
export function agentAnswer(events: RecordedEvent[], ids: { thread_id: string; turn_id: string }): string | undefined {
  const end = findTurnEnd(events, ids.turn_id);
  if (!end) return undefined;
  if (end.status === "completed")
    return JSON.stringify({ ok: true, value: agentOutput({ ...ids, end }) } satisfies AgentAnswer);
  return refusedAnswer({ code: "agent_error", message: end.message || "The model provider returned an error." });
}

async function resolveAgent({ agents }: AgentDeps, owner: TurnOwner, name: string): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  const [id, ...others] = await agents.findIds(owner, name);
  if (others.length > 0) throw invalidInput(`agent: ${others.length + 1} agents have the name ${name}: use an id.`);
  if (id === undefined) throw invalidInput(`agent: there is no agent ${name}.`);
  return id;
}

/** Lets the limits count the turn until it ends, or until this process does. Returns a function that stops listening for the end. */
function settleAtEnd(deps: AgentDeps, { organization_id }: TurnOwner, turn_id: string, settle: (end: TurnEnd) => void) {
  const forget = () => {
    clearTimeout(timer);
    unsubscribe();
  };
  const unsubscribe = deps.frames.subscribe(organization_id, turn_id, (frame) => {
    if (frame.type !== "end") return;
    forget();
    settle(frame.end);
  });
  const timer = setTimeout(unsubscribe, deps.turn_ms);
  timer.unref();
  return forget;
}

type CreatedRun = StartingRun["created"];

/** The scope of a thread that this run may continue: the run's own, or that of a run whose answers it inherits. */
async function scopeToContinue(
  { log }: AgentDeps,
  { organization_id }: TurnOwner,
  created: CreatedRun,
  thread_id: string,
): Promise<string> {
  const own = runScope(created.run_id);
  const query = { before: 2, types: [TurnStarted.type], limit: 1, bytes: 1 };
  const [first] = await log.readNewest(streamName("thread", thread_id), query);
  const scope = (first?.data as { scope?: string } | undefined)?.scope ?? own;
  return (await isOfOwnRuns(log, organization_id, created, scope)) ? scope : own;
}

interface PreparedStart {
  turn: NewAgentTurn;
  scope: string;
  prepared: Awaited<ReturnType<typeof prepareAgentTurn>>;
  route: Route | undefined;
  reserved: string | undefined;
}

/** The command that starts a turn which its limits have admitted. */
async function startCommand(deps: AgentDeps, owner: TurnOwner, start: PreparedStart) {
  const { turn, scope, prepared, route, reserved } = start;
  const { thread_id, turn_id } = turn;
  const ids = { thread_id, turn_id, command_id: turn_id.replaceAll("-", "").repeat(2) };
  const request = { ...prepared, thread_id: turn.continues ? thread_id : null };
  const { data, ...built } = await buildStart(deps, owner, request, { ids, route, reserved });
  const ends_by = new Date((deps.now ?? currentTime)() + deps.turn_ms).toISOString();
  return newCommand(StartTurn.type, {
    ...built,
    timeout_ms: COMMAND_TIMEOUT_MS,
    // readers of the run's events receive its words
    data: { ...data, scope, streamed: true, awaited_by: owner.run_id, ends_by },
  });
}

async function start(
  deps: AgentDeps,
  owner: TurnOwner,
  created: CreatedRun,
  turn: NewAgentTurn,
): Promise<AgentTurnStart> {
  const { organization_id, project_id } = owner;
  const { turn_id } = turn;
  const envelope = await readRunEnvelope(deps.log, { ...owner, run_as: created.run_as });
  const agent_id = await resolveAgent(deps, owner, turn.agent);
  const input = parseInput("agent", { agent_id, ...(JSON.parse(turn.request) as object) });
  const prepared = await prepareAgentTurn(deps, { organization_id, project_id, envelope }, input);
  const route = await findRoute(deps, owner, prepared.model);
  const scope = await scopeToContinue(deps, owner, created, turn.thread_id);
  const { model } = prepared;
  const models = route?.targets ?? [model];
  const answer = await deps.askLimits(spenderOf(owner, { agent_id, model }), {
    turn_id,
    models,
    prompt: prepared.prompt,
    streamed: true,
  });
  if ("refused" in answer) return { refused: { code: answer.code ?? "budget_exceeded", message: answer.refused } };
  if ("rate_limited" in answer) return { later: answer.rate_limited.retry_after_ms };
  const { reserved, end, withdraw } = answer.admitted;
  const forget = settleAtEnd(deps, owner, turn_id, (ended) => end(spendingOf(ended)));
  const drop = () => {
    forget();
    withdraw();
  };
  const { rejection } = await startCommand(deps, owner, { turn, scope, prepared, route, reserved })
    .then((command) => deps.handle(command))
    .catch((error: unknown) => {
      // a turn whose start has an unknown outcome may be running
      if (!(error instanceof Unavailable)) drop();
      throw error;
    });
  if (!rejection) return { agent_id };
  drop();
  const noThread = { code: "thread_not_found", message: "thread_id: the run has no such thread." };
  return { refused: rejection.code === "thread_not_found" ? noThread : rejection };
}

export const createAgentTurns =
  (deps: AgentDeps): StartAgentTurn =>
  async ({ organization_id, created }, turn) => {
    const { run_id, workflow_id, project_id, user_mark = null } = created;
    const owner = { organization_id, run_id, workflow_id, project_id, asked_by: askerOf(created), user_mark };
    const events = await readTurnBounds(deps.log, streamName("thread", turn.thread_id), turn.turn_id);
    // Another process started it, and was lost before it recorded that.
    const started = events.find((event) => isTurnStart(event, turn.turn_id));
    if (started) return { agent_id: (started.data as { agent: TurnAgent }).agent.agent_id };
    try {
      return await start(deps, owner, created, turn);
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      const { code, message } = error;
      return { refused: { code, message: message.replace(/^agent: (agent_id: )?/, "") } };
    }
  };
