import { setTimeout as sleep } from "node:timers/promises";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import type { LinkEntry, StoredValue } from "#events/runParts.ts";
import {
  agentTurnIds,
  AnswerAgentTurn,
  RecordAgentTurn,
  RefuseCall,
  WatchRun,
  type Refusal,
  type Watcher,
} from "#events/runLinks.ts";
import { isEnded, isLive, type LiveRun } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import type { StartChildRun } from "./childRuns.ts";
import { firstLookTime, refusedAnswer, type StartAgentTurn } from "./agentTurns.ts";
import type { Place } from "./findPlace.ts";
import { readNewestRun, readRunStates, type NewestRun } from "./newestRun.ts";
import type { OpenRun } from "./openRun.ts";
import type { RunEnd } from "./recentRunEvents.ts";
import { describeEnd, readRunAnswer, type RunAnswerDeps } from "./runAnswer.ts";

export interface LinkDeps extends RunAnswerDeps {
  log: RunAnswerDeps["log"] & Pick<EventLog, "heads" | "read">;
  send: Send;
  startChildRun: StartChildRun;
  startAgentTurn: StartAgentTurn;
  /** The end of a run that this process has committed a moment ago. */
  findRecentEnd(stream: string): RunEnd | undefined;
}

/** `placeOf`: where the source makes a call. */
type LinkedWorkDeps = LinkDeps & { placeOf(key: string): Promise<Place> };

/** Starts of child runs and turns, and registrations of waits, at the same time. */
const CONCURRENCY = 10;
/** Pause before another look at a chain whose next run is being started. */
const RETRY_MS = 200;
/** Pause before the limits are asked again. */
const MAX_PAUSE_MS = 1_000;

/** Entries that the coordinator records about the calls it has processed. */
export interface LinkProgress {
  links: LinkEntry[];
  /** JSON of the answers in it. */
  jsons: Map<StoredValue, string>;
}

const refuse = async ({ send, placeOf }: LinkedWorkDeps, { history }: OpenRun, key: string, refusal: Refusal) =>
  send(history, RefuseCall.type, { run_id: history.created.run_id, key, refusal, ...(await placeOf(key)) });

async function startChild(deps: LinkedWorkDeps, run: OpenRun, key: string, { links }: LinkProgress): Promise<void> {
  const { history, values } = run;
  const { child_run_id, workflow, args } = history.links.children.get(key)!;
  const refused = await deps.startChildRun(history, { child_run_id, workflow, args: await values.json(args) });
  if (refused) await refuse(deps, run, key, { ...refused, message: `startRun: ${refused.message}` });
  else links.push({ type: "child_started", key });
}

/** Starts a turn. If a limit per minute has no room, it is tried again while the run does other things. */
async function startTurn({ startAgentTurn, send }: LinkDeps, { history, values }: OpenRun, key: string): Promise<void> {
  const { request, ...turn } = history.links.agentTurns.get(key)!;
  const { run_id } = history.created;
  const continues = turn.thread_id !== agentTurnIds(run_id, key).thread_id;
  const started = await startAgentTurn(history, { ...turn, continues, request: await values.json(request) });
  if ("later" in started) return await sleep(Math.min(started.later, MAX_PAUSE_MS));
  if ("agent_id" in started)
    return void (await send(history, RecordAgentTurn.type, { run_id, key, ...started, look_at: firstLookTime() }));
  const answer = await values.store(refusedAnswer(started.refused));
  await send(history, AnswerAgentTurn.type, { run_id, turn_id: turn.turn_id, answer });
}

const NOT_FOUND: Refusal = {
  code: "run_not_found",
  message: "waitForRun: no run that this one can reach has this id.",
};

const OWN_END: Refusal = { ...NOT_FOUND, message: "waitForRun: a run cannot wait for its own end." };

/** The awaited run according to the log, or the run that continues it; undefined when this run may not access it. */
async function readAwaited({ log }: LinkDeps, { history }: OpenRun, run_id: string): Promise<NewestRun | undefined> {
  const found = await readNewestRun(log, run_id);
  if (found?.head.organization_id !== history.organization_id) return undefined;
  const { state, isHandingOver } = found;
  // the next look finds a run that has a project
  if (isHandingOver) return found;
  if (!isLive(state) && !isEnded(state)) return undefined;
  const { project_id } = history.created;
  return project_id === null || state.project_id === project_id ? found : undefined;
}

/** A live run whose end another run waits for. */
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

/** Ids of the watchers that have ended, after a timeout of their wait for example. */
async function findEnded({ log }: LinkDeps, watchers: Watcher[]): Promise<string[]> {
  // a run that is being created is not in the log yet, and has not ended
  const states = await readRunStates(
    log,
    watchers.map(({ run_id }) => run_id),
  );
  return [...states].flatMap(([id, state]) => (isLive(state) ? [] : [id]));
}

/** Registers a run as a watcher of the awaited run, or of the run that continues it. Returns why it could not. */
async function watch(deps: LinkDeps, organization_id: string, watched: WatchedRun) {
  if (isWatched(watched)) return undefined;
  const { run_id, watcher_id, awaited_run_id, head, state } = watched;
  const data = { run_id, watcher_id, ...(run_id !== awaited_run_id && { awaited_run_id }) };
  const register = async (more = {}) =>
    (await deps.send({ organization_id, stream: head.stream }, WatchRun.type, { ...data, ...more })).rejection;
  const rejection = await register();
  if (rejection?.code !== "too_many_watchers") return rejection;
  const ended = await findEnded(deps, state.watchers);
  return ended.length === 0 ? rejection : register({ ended });
}

/** Answers a wait with the end of the awaited run. */
async function answerWait(
  { values }: OpenRun,
  awaited: { run_id: string; json: string },
  { links, jsons }: LinkProgress,
): Promise<void> {
  const { json } = awaited;
  const answer = await values.store(json);
  jsons.set(answer, json);
  links.push({ type: "wait_answered", awaited_run_id: awaited.run_id, answer });
}

/**
 * Makes sure that the end of the awaited run answers the wait. Registers as a watcher first and looks at the run afterwards: either
 * the end finds the watcher, or the look finds the end.
 */
async function registerWait(
  deps: LinkedWorkDeps,
  run: OpenRun,
  { key, awaited_run_id }: { key: string; awaited_run_id: string },
  progress: LinkProgress,
): Promise<void> {
  const { history } = run;
  const watched = (head: StreamHead, state: LiveRun): WatchedRun => ({
    run_id: parseStreamName(head.stream).id,
    watcher_id: history.created.run_id,
    head,
    state,
    awaited_run_id,
  });
  let awaited = await readAwaited(deps, run, awaited_run_id);
  if (awaited && parseStreamName(awaited.head.stream).id === history.created.run_id)
    return void (await refuse(deps, run, key, OWN_END));
  if (awaited && isLive(awaited.state) && !isWatched(watched(awaited.head, awaited.state))) {
    const rejection = await watch(deps, history.organization_id, watched(awaited.head, awaited.state));
    if (rejection)
      return void (await refuse(deps, run, key, { ...rejection, message: `waitForRun: ${rejection.message}` }));
    awaited = await readAwaited(deps, run, awaited_run_id);
  }
  if (!awaited) return void (await refuse(deps, run, key, NOT_FOUND));
  // Otherwise another run has continued it meanwhile: the wait stays open, and the next look finds that run.
  if (isLive(awaited.state)) {
    if (isWatched(watched(awaited.head, awaited.state))) progress.links.push({ type: "wait_registered", key });
    return;
  }
  // The next run of the chain is being started.
  if (awaited.isHandingOver) return await sleep(RETRY_MS);
  await answerWait(run, { run_id: awaited_run_id, json: await readRunAnswer(deps, awaited.head) }, progress);
}

/** Waits that are not registered, by call key. */
const openWaits = ({ waits }: LiveRun) => Object.entries(waits).filter(([, { isRegistered }]) => !isRegistered);

async function inBatches(work: (() => Promise<void>)[]): Promise<void> {
  for (let n = 0; n < work.length; n += CONCURRENCY)
    await Promise.all(work.slice(n, n + CONCURRENCY).map((begin) => begin()));
}

const emptyProgress = (): LinkProgress => ({ links: [], jsons: new Map() });

/** JSON of the answer of a run's own child run, which it may await, if this process has just committed its end. */
async function recallAnswer(deps: LinkDeps, { history }: OpenRun, run_id: string): Promise<string | undefined> {
  const stream = streamName("run", run_id);
  const isChild = history.links.children.values().some(({ child_run_id }) => child_run_id === run_id);
  const end = isChild ? deps.findRecentEnd(stream) : undefined;
  return end && describeEnd(deps, { stream, organization_id: history.organization_id }, end);
}

/** Answers of awaited runs that have ended already. Their waits need no registration. */
export async function findEndedRuns(deps: LinkDeps, run: OpenRun): Promise<LinkProgress> {
  const { state } = run.history;
  const progress = emptyProgress();
  const awaited = isLive(state) ? openWaits(state).flatMap(([, { awaited_run_id }]) => awaited_run_id ?? []) : [];
  const look = async (run_id: string): Promise<void> => {
    const recalled = await recallAnswer(deps, run, run_id);
    if (recalled !== undefined) return answerWait(run, { run_id, json: recalled }, progress);
    const found = await readAwaited(deps, run, run_id);
    if (!found || found.isHandingOver || isLive(found.state)) return;
    await answerWait(run, { run_id, json: await readRunAnswer(deps, found.head) }, progress);
  };
  await inBatches([...new Set(awaited)].map((run_id) => () => look(run_id)));
  return progress;
}

/** Starts the child runs and turns that a run asks for, and registers its waits. All of them must be recorded. */
export async function startLinkedWork(deps: LinkedWorkDeps, run: OpenRun): Promise<LinkProgress> {
  const { state } = run.history;
  const progress = emptyProgress();
  if (!isLive(state)) return progress;
  const requested = state.children.filter(({ status }) => status === "requested");
  await inBatches([
    ...requested.map(
      ({ key }) =>
        () =>
          startChild(deps, run, key, progress),
    ),
    ...openWaits(state).map(
      ([key, { awaited_run_id, turn }]) =>
        () =>
          turn
            ? startTurn(deps, run, key)
            : registerWait(deps, run, { key, awaited_run_id: awaited_run_id! }, progress),
    ),
  ]);
  return progress;
}
