import { setTimeout as sleep } from "node:timers/promises";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import {
  agentTurnIds,
  AnswerAgentTurn,
  AnswerRunWaits,
  RecordAgentTurn,
  RecordChildRun,
  RecordWatch,
  WatchRun,
  type Refusal,
} from "#events/runLinks.ts";
import { isEnded, isLive, type LiveRun } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import type { StartChildRun } from "./childRuns.ts";
import { firstLook, refusedAnswer, type StartAgentTurn } from "./agentTurns.ts";
import { isContinued, readNewestRun } from "./newestRun.ts";
import type { OpenRun } from "./openRun.ts";
import { readRunAnswer, type RunAnswerDeps } from "./runAnswer.ts";

export interface LinkDeps extends RunAnswerDeps {
  log: RunAnswerDeps["log"] & Pick<EventLog, "heads" | "read">;
  send: Send;
  startChildRun: StartChildRun;
  startAgentTurn: StartAgentTurn;
}

/** Starts of child runs and of turns, and registrations of waits, that run at the same time. */
const CONCURRENCY = 10;
/** Pause before another look at a chain whose next run is on its way. */
const RETRY_MS = 200;
/** Pause before the limits are asked again. */
const MAX_PAUSE_MS = 1_000;

async function startChild({ startChildRun, send }: LinkDeps, { history, values }: OpenRun, key: string) {
  const { child_run_id, workflow, args } = history.links.children.get(key)!;
  const refused = await startChildRun(history, { child_run_id, workflow, args: await values.json(args) });
  const refusal = refused ? { ...refused, message: `startRun: ${refused.message}` } : null;
  await send(history, RecordChildRun.type, { run_id: history.created.run_id, key, refusal });
}

/** A turn that the limits of a minute have no room for is tried again, while the run does other things. */
async function startTurn({ startAgentTurn, send }: LinkDeps, { history, values }: OpenRun, key: string) {
  const { request, ...turn } = history.links.agentTurns.get(key)!;
  const { run_id } = history.created;
  const continues = turn.thread_id !== agentTurnIds(run_id, key).thread_id;
  const started = await startAgentTurn(history, { ...turn, continues, request: await values.json(request) });
  if ("later" in started) return sleep(Math.min(started.later, MAX_PAUSE_MS));
  if ("agent_id" in started)
    return void (await send(history, RecordAgentTurn.type, { run_id, key, ...started, look_at: firstLook() }));
  const answer = await values.store(refusedAnswer(started.refused));
  await send(history, AnswerAgentTurn.type, { run_id, turn_id: turn.turn_id, answer });
}

const NOT_FOUND: Refusal = {
  code: "run_not_found",
  message: "waitForRun: no run that this one can reach has this id.",
};

/** The awaited run as the log has it now, or the one that goes on for it; undefined when this run cannot reach it. */
async function readAwaited({ log }: LinkDeps, { history }: OpenRun, run_id: string) {
  const found = await readNewestRun(log, run_id);
  if (found?.head.organization_id !== history.organization_id) return undefined;
  const { head, state } = found;
  if (!isLive(state) && !isEnded(state)) return undefined;
  const { project_id } = history.created;
  return project_id === null || state.project_id === project_id ? { head, state } : undefined;
}

/** A live run, and the wait of another run for its end. */
interface WatchedRun {
  run_id: string;
  head: StreamHead;
  state: LiveRun;
  watcher_id: string;
  /** The run itself, or an earlier one of its chain. */
  awaited_run_id: string;
}

const isWatched = ({ run_id, state, watcher_id, awaited_run_id }: WatchedRun): boolean =>
  state.watchers.some((one) => one.run_id === watcher_id && (one.awaited_run_id ?? run_id) === awaited_run_id);

/** Makes a run a watcher of the awaited one, or of the one that goes on for it. Returns why not. */
async function watch({ send }: LinkDeps, organization_id: string, watched: WatchedRun) {
  if (isWatched(watched)) return undefined;
  const { run_id, watcher_id, awaited_run_id, head } = watched;
  const data = { run_id, watcher_id, ...(run_id !== awaited_run_id && { awaited_run_id }) };
  return (await send({ organization_id, stream: head.stream }, WatchRun.type, data)).rejection;
}

/**
 * Makes sure that the end of the awaited run answers the wait. It becomes a watcher of that run first and looks at it afterwards,
 * so the end either finds the watcher or is seen here.
 */
async function registerWait(deps: LinkDeps, run: OpenRun, key: string, awaited_run_id: string): Promise<void> {
  const { send } = deps;
  const { history } = run;
  const { run_id } = history.created;
  const record = (refusal: Refusal | null) => send(history, RecordWatch.type, { run_id, key, refusal });
  const watched = (head: StreamHead, state: LiveRun): WatchedRun => ({
    run_id: parseStreamName(head.stream).id,
    watcher_id: run_id,
    head,
    state,
    awaited_run_id,
  });
  let awaited = await readAwaited(deps, run, awaited_run_id);
  if (awaited && isLive(awaited.state)) {
    const rejection = await watch(deps, history.organization_id, watched(awaited.head, awaited.state));
    if (rejection) return void (await record({ code: rejection.code, message: `waitForRun: ${rejection.message}` }));
    awaited = await readAwaited(deps, run, awaited_run_id);
  }
  if (!awaited) return void (await record(NOT_FOUND));
  // Otherwise another run has gone on for it meanwhile: the wait stays open, and its next look finds that one.
  if (isLive(awaited.state)) return void (isWatched(watched(awaited.head, awaited.state)) && (await record(null)));
  // The next run of the chain is on its way.
  if (isContinued(awaited.state)) return sleep(RETRY_MS);
  const answer = await run.values.store(await readRunAnswer(deps, awaited.head));
  await send(history, AnswerRunWaits.type, { run_id, awaited_run_id, answer });
}

/** Starts the child runs and the turns that a run asks for, and registers its waits. All of them must be recorded. */
export async function attendLinks(deps: LinkDeps, run: OpenRun): Promise<void> {
  const { state } = run.history;
  if (!isLive(state)) return;
  const requested = state.children.filter(({ status }) => status === "requested");
  const unregistered = Object.entries(state.waits).filter(([, { isRegistered }]) => !isRegistered);
  const work = [
    ...requested.map(
      ({ key }) =>
        () =>
          startChild(deps, run, key),
    ),
    ...unregistered.map(
      ([key, { awaited_run_id, turn }]) =>
        () =>
          turn ? startTurn(deps, run, key) : registerWait(deps, run, key, awaited_run_id!),
    ),
  ];
  for (let n = 0; n < work.length; n += CONCURRENCY)
    await Promise.all(work.slice(n, n + CONCURRENCY).map((begin) => begin()));
}
