import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { AnswerRunWaits, RecordChildRun, RecordWatch, WatchRun, type Refusal } from "#events/runLinks.ts";
import { run as decider } from "../deciders/run.ts";
import { isEnded, isLive, type RunState } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import { readState } from "../states.ts";
import type { StartChildRun } from "./childRuns.ts";
import type { OpenRun } from "./openRun.ts";
import { readRunAnswer, type RunAnswerDeps } from "./runAnswer.ts";

export interface LinkDeps extends RunAnswerDeps {
  log: RunAnswerDeps["log"] & Pick<EventLog, "heads" | "read">;
  send: Send;
  startChildRun: StartChildRun;
}

/** Starts of child runs, and registrations of waits, that run at the same time. */
const CONCURRENCY = 10;

async function startChild({ startChildRun, send }: LinkDeps, { history, values }: OpenRun, key: string) {
  const { child_run_id, workflow, args } = history.links.children.get(key)!;
  const refused = await startChildRun(history, { child_run_id, workflow, args: await values.json(args) });
  const refusal = refused ? { ...refused, message: `startRun: ${refused.message}` } : null;
  await send(history, RecordChildRun.type, { run_id: history.created.run_id, key, refusal });
}

const NOT_FOUND: Refusal = {
  code: "run_not_found",
  message: "waitForRun: no run that this one can reach has this id.",
};

/** The awaited run as the log has it now; undefined when this run cannot reach it. */
async function readAwaited({ log }: LinkDeps, { history }: OpenRun, run_id: string) {
  const stream = streamName("run", run_id);
  const head = (await log.heads([stream])).get(stream);
  if (head?.organization_id !== history.organization_id) return undefined;
  const { state }: { state: RunState } = await readState(log, head, decider);
  if (!isLive(state) && !isEnded(state)) return undefined;
  const { project_id } = history.created;
  return project_id === null || state.project_id === project_id ? { head, state } : undefined;
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
  let awaited = await readAwaited(deps, run, awaited_run_id);
  if (awaited && isLive(awaited.state) && !awaited.state.watchers.includes(run_id)) {
    const target = { ...history, stream: awaited.head.stream };
    const { rejection } = await send(target, WatchRun.type, { run_id: awaited_run_id, watcher_id: run_id });
    if (rejection) return void (await record({ code: rejection.code, message: `waitForRun: ${rejection.message}` }));
    awaited = await readAwaited(deps, run, awaited_run_id);
  }
  if (!awaited) return void (await record(NOT_FOUND));
  if (isLive(awaited.state)) return void (await record(null));
  const answer = await run.values.store(await readRunAnswer(deps, awaited.head));
  await send(history, AnswerRunWaits.type, { run_id, awaited_run_id, answer });
}

/** Starts the child runs that a run asks for, and registers its waits. All of them must be recorded. */
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
      ([key, { awaited_run_id }]) =>
        () =>
          registerWait(deps, run, key, awaited_run_id!),
    ),
  ];
  for (let n = 0; n < work.length; n += CONCURRENCY)
    await Promise.all(work.slice(n, n + CONCURRENCY).map((begin) => begin()));
}
