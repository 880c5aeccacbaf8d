import { createBreaker } from "#infra/postgres/breaker.ts";
import { cleanUp } from "#infra/postgres/cleanUp.ts";
import { runAsLeader } from "#infra/postgres/leader.ts";
import { countLogBytes } from "#infra/postgres/logBytes.ts";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, Gate, PublicEvent, StreamHead } from "#events/ports.ts";
import { withTrace } from "#events/spans.ts";
import { parseTraceHeaders } from "#events/trace.ts";
import { resumeAfterCommit } from "#services/resumeAfterCommit.ts";
import { combineGates } from "#services/gates.ts";
import { createHandler, type CommittedCommand, type Handle } from "#services/handle.ts";
import { reactors } from "#services/reactors/index.ts";
import type { Db } from "#projections/projection.ts";
import { openBudgets } from "./budgets.ts";
import { createSweep } from "#services/sweep.ts";
import { waitAtMost } from "#services/waitAtMost.ts";
import { openScriptStore } from "#services/workflows/script.ts";
import { withStepSpans } from "#services/workflows/stepSpans.ts";
import { openDocumentWork } from "./documentWork.ts";
import { openEraser } from "./eraser.ts";
import { startRelays } from "./relays.ts";
import type { Resources } from "./resources.ts";
import { openRetainer } from "./retainer.ts";
import { openAlertWork, openScheduleWork } from "./scheduleWork.ts";
import { openSourceWork } from "./sourceWork.ts";
import { openStepHosts } from "./stepHost.ts";
import { withStreamTrace } from "./streamTrace.ts";
import { openTools } from "./tools.ts";
import { openAgentWork, openTurnWork } from "./turnWork.ts";
import { openMessageWork, openWorkflowWork } from "./workflowWork.ts";

type ResumeWork = (head: StreamHead) => Promise<void>;
type LeasedWork = Pick<ReturnType<typeof openSourceWork>, "hasRoom" | "afterCommit" | "busy">;

const resumeWorkBy =
  (resumeWorkByAggregate: Record<string, ResumeWork>): ResumeWork =>
  async (head) =>
    resumeWorkByAggregate[parseStreamName(head.stream).aggregate]?.(head);

/** Starts the work that a commit gave to this process. */
function afterCommits({ log, logger }: Resources, leased: Pick<LeasedWork, "afterCommit">[], resumeWork: ResumeWork) {
  const onError = (err: unknown, stream: string) =>
    logger.warn({ err, stream }, "work not started, the sweep will start it");
  const resumeCommitted = resumeAfterCommit({ log, resumeWork, onError });
  return (committed: CommittedCommand): void => {
    for (const work of leased) work.afterCommit(committed);
    resumeCommitted(committed);
  };
}

const stopAll = (stopping: { stop(): unknown }[], idling: { idle(): unknown }[]): Promise<unknown> =>
  Promise.all([...stopping.map((work) => work.stop()), ...idling.map((work) => work.idle())]);

type HasRoom = Pick<LeasedWork, "hasRoom">;
/** Leaves work to other processes while this one has no room for it. */
const workerWithRoom =
  (worker: string, workOf: Record<string, HasRoom>, other: HasRoom) => (aggregate: string, organization: string) =>
    (workOf[aggregate] ?? other).hasRoom(organization) ? worker : undefined;

/** Queries that fail at once while the database is unreachable: budgets then decide by their last figures. */
function failFast({ db, reach }: Resources): Db {
  const breaker = createBreaker(reach);
  return { query: (text, values) => breaker(() => db.query(text, values)) };
}

/** The work of a services process: turns, documents, runs and schedules, the handler for commands, and recovery. */
function openWork(resources: Resources) {
  const { settings, log, bus, worker, clock } = resources;
  // commands start work, and work sends commands, so the handler is set once all work is open
  const handle: Handle = (command) => handler(command);
  const { tools, openDownloadMemory, close: closeTools } = openTools(resources);
  const budgets = openBudgets({ ...resources, db: failFast(resources) }, handle);
  const turns = openTurnWork(resources, handle, { tools, budgets });
  const agents = openAgentWork(resources, handle, turns);
  const documents = openDocumentWork(resources, handle, budgets);
  const sources = openSourceWork(resources, handle, { reader: documents.reader, budgets });
  const eraser = openEraser(resources, handle);
  const retainer = openRetainer(resources, handle);
  const runner = withStepSpans(openWorkflows({ processes: settings.READERS }));
  const scripts = openScriptStore(resources);
  const openHost = openStepHosts(resources, { handle, budgets, tools, openDownloadMemory });
  const runs = openWorkflowWork(resources, handle, { budgets, runner, openHost, scripts, turns });
  const messages = openMessageWork(resources, handle);
  const schedules = openScheduleWork(resources, handle, { scripts, budgets });

  const workOf: Record<string, LeasedWork> = { thread: turns, trigger: schedules, run: runs, source: sources };
  const leased = [...Object.values(workOf), documents.readings];
  const handler = createHandler({
    log,
    hints: bus.hints,
    now: clock.now,
    worker: workerWithRoom(worker, workOf, documents.readings),
    begin: runs.begin,
    beforeCommit: turns.beforeCommit,
    afterCommit: afterCommits(resources, [...leased, messages], (head) => resumeWorkBy(resumeWorkByAggregate)(head)),
  });

  const traced = withStreamTrace(resources.db);
  const resumeWorkByAggregate: Record<string, ResumeWork> = {
    thread: turns.resumeWork,
    agent: agents.resumeWork,
    document: traced(documents.resumeWork.document),
    extraction: traced(documents.resumeWork.extraction),
    collection: documents.resumeWork.collection,
    source: sources.resumeWork,
    erasure: eraser.resumeWork,
    retention: retainer.resumeWork,
    run: traced(runs.resumeWork),
    trigger: schedules.resumeWork,
    message: messages.resumeWork,
  };

  return {
    handle: handler,
    budgets,
    resumeWorkByAggregate,
    startAlertRun: openAlertWork(resources, handle, { scripts, budgets }),
    busy: (): string[] => leased.flatMap((work) => work.busy()),
    startFollowing: documents.startFollowing,
    /** Starts nothing more; resolves when running work has ended. */
    finish: () => stopAll([schedules, sources, runs, eraser, retainer, agents], [turns, documents]),
    /** Leaves running turns to other workers. */
    leave: turns.leave,
    close: (): Promise<unknown> => Promise.all([documents.close(), closeTools(), runner.close()]),
  };
}

/** Finds lost work, unless this process was cut off from the database, because then other workers' heartbeats look old, too. */
const openWorkWhenSteady =
  ({ log, isSteady }: Resources, gate: Gate): EventLog["openWork"] =>
  async (options) => {
    const work = await log.openWork(options);
    return isSteady() && gate.isOpen() ? work : [];
  };

/** Runs an event's reactors in its trace. */
const reactTo =
  ({ blobs, log }: Resources, { resumeWorkByAggregate, startAlertRun }: ReturnType<typeof openWork>) =>
  async (event: PublicEvent): Promise<void> => {
    const resumeWork = resumeWorkBy(resumeWorkByAggregate);
    for (const reactor of reactors[event.type] ?? [])
      await withTrace(parseTraceHeaders(event), () => reactor.react({ event, blobs, log, resumeWork, startAlertRun }));
  };

/** The role that handles commands, does the work they start, reacts to events, and recovers lost work. */
export async function startServicesRole(resources: Resources) {
  const { logger, log, bus, worker, db, pool, blobs } = resources;
  const onError = (error: unknown) => logger.warn({ err: error }, "background work failed, retrying");
  const work = openWork(resources);
  const { reach, sameBus, clock } = resources;
  const gate = combineGates([{ isOpen: reach.isReachable, onChange: reach.onChange }, clock, sameBus]);
  const sweep = createSweep({
    log: { openWork: openWorkWhenSteady(resources, gate), nextDue: log.nextDue },
    worker,
    now: clock.now,
    busy: work.busy,
    resumeWork: work.resumeWorkByAggregate,
    onError: (error, stream) => logger.warn({ err: error, stream }, "sweep failed, retrying"),
  });

  const commands = await bus.source(clock.now).consume(work.handle, gate, resources.appends.problem);
  const reactions = await bus.reactions.consume(reactTo(resources, work), gate);
  const relays = startRelays(resources, onError);
  const keepHouse = async (signal: AbortSignal): Promise<void> => {
    await Promise.all([
      cleanUp({ db, blobs, dataKeys: log, clock, onError }, signal),
      countLogBytes({ db, onError }, signal),
    ]);
  };
  const cleaning = runAsLeader(pool, "clean-up", keepHouse, onError, { gate: clock });
  const following = work.startFollowing();
  sweep.start();

  return {
    /** For the http role of this process. */
    local: { handler: { handle: work.handle, gate }, budgets: work.budgets },
    /** Takes no more work, lets running work finish for `patienceMs`, then leaves the rest to other workers. */
    async stop(patienceMs: number): Promise<void> {
      await Promise.all([commands.stop(), reactions.stop(), sweep.stop()]);
      await Promise.all([relays.stop(), cleaning.stop()]);
      await waitAtMost(Promise.all([work.finish(), following.stop()]), patienceMs);
      work.leave();
      await work.close();
    },
  };
}
