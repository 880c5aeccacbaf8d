import { failpoint } from "#infra/failpoint.ts";
import { batchLookups } from "#infra/postgres/batchLookups.ts";
import { trackProgress } from "#projections/progress.ts";
import { streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import type { CommittedCommand, Handle } from "#services/handle.ts";
import { sendTo, type CommandTarget } from "#services/send.ts";
import { listMessageWaits } from "#projections/runs/messageWaits.ts";
import { listWorkflowsNamed, workflowName } from "#projections/workflows/query.ts";
import { createAgentTurns } from "#services/workflows/agentTurns.ts";
import type { AttemptDeps } from "#services/workflows/attempt.ts";
import { createChildRuns } from "#services/workflows/childRuns.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import {
  ANSWER_BYTES,
  deliverMessage,
  findPosted,
  type DeliveryDeps,
  type PostedMessage,
} from "#services/workflows/deliverMessage.ts";
import { createRecentWaits } from "#services/workflows/recentRunEvents.ts";
import { createRuns } from "#services/workflows/runs.ts";
import type { ScriptStore } from "#services/workflows/script.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import type { WorkflowRunner } from "#services/workflows/tick.ts";
import { openRunLimits } from "./budgets.ts";
import { openAgentDeps } from "./stepHost.ts";
import { createQueryTwice } from "./queryTwice.ts";
import type { Resources } from "./resources.ts";
import { findRunBelongings } from "./runBelongings.ts";

interface WorkflowWorkOptions {
  budgets: BudgetWatch;
  runner: WorkflowRunner;
  openHost: AttemptDeps["openHost"];
  scripts: ScriptStore;
  turns: { endParked(stream: string, message: string): Promise<unknown> };
}

/** A services process's work on workflows: coordinates runs. */
export function openWorkflowWork(
  resources: Resources,
  handle: Handle,
  { budgets, runner, openHost, scripts, turns }: WorkflowWorkOptions,
) {
  const { db, log, vault, keyring, worker, logger, schemas, bus, clock, logLimits, runMemory } = resources;
  const queryTwice = createQueryTwice(resources);
  const isFound = (ids: string[]): boolean => ids.length > 0;
  const named = batchLookups((names) => listWorkflowsNamed(db, names));
  const findNamed = async (name: string): Promise<string[]> => (await named([name])).get(name) ?? [];
  const startChildRun = createChildRuns({
    ...resources,
    handle,
    scripts,
    admitRun: openRunLimits(budgets),
    findWorkflowIds: (organization, name) =>
      queryTwice("workflows", () => findNamed(workflowName(organization, name)), isFound),
  });
  return createRuns({
    startChildRun,
    startAgentTurn: createAgentTurns(openAgentDeps(resources, { handle, budgets })),
    async stopTurn(organization, { thread_id, turn_id }) {
      bus.frames.requestStop(organization, turn_id);
      await turns.endParked(streamName("thread", thread_id), "The run that asked the agent has ended.");
    },
    vault,
    keyring,
    log,
    now: clock.now,
    worker,
    send: sendTo(handle, worker),
    logLimits,
    runMemory,
    runner,
    openHost,
    schemas,
    scripts,
    belongingsOf: findRunBelongings(db),
    failpoint,
    onError: (error, stream) => logger.warn({ err: error, stream }, "run not continued, retrying"),
  });
}

/** Maximum wait for the read model of waits; after it, the sweep repeats the delivery. */
const PROJECTION_MS = 5_000;
/** How many events the read model may lag. A delivery reads that many from the log instead of waiting. */
const MAX_BEHIND = 2_000;

/** Messages that a process delivers at the same time: in total, and per organization. */
const DELIVERIES = { total: 16, perTenant: 8 };
/** Maximum waiting deliveries per organization; the sweep repeats the others. */
const MAX_WAITING = 50;

/** A services process's work on messages: delivers them to waiting runs. Organizations take turns. */
export function openMessageWork({ db, log, vault, worker, bus, logger }: Resources, handle: Handle) {
  const progress = trackProgress({ hints: bus.hints, db });
  const recentWaits = createRecentWaits();
  const deps: DeliveryDeps = {
    findRecentWait: recentWaits.find,
    log,
    vault,
    handle,
    worker,
    answers: createFairSemaphore(ANSWER_BYTES),
    async findMessageWaits(organization, query) {
      const found = await listMessageWaits(db, organization, query);
      if (query.position - found.projected <= MAX_BEHIND) return found;
      await progress.waitFor(["runs"], query.position, PROJECTION_MS);
      const later = await listMessageWaits(db, organization, query);
      return query.position - later.projected <= MAX_BEHIND ? later : undefined;
    },
  };
  const deliveries = createFairSemaphore(DELIVERIES);
  const deliver = async (target: CommandTarget, posted?: PostedMessage): Promise<void> => {
    if (deliveries.countWaiting(target.organization_id) >= MAX_WAITING) return;
    await deliveries.run(target.organization_id, () => deliverMessage(deps, target, posted));
  };
  return {
    resumeWork: (head: StreamHead) => deliver(head),
    /** Delivers a message that this process has just committed, to waits that may be just as new. If it is interrupted, another process's sweep continues. */
    afterCommit(committed: CommittedCommand): void {
      recentWaits.add(committed);
      const posted = findPosted(committed);
      const { stream } = committed.command;
      if (posted)
        deliver(committed.command, posted).catch((err: unknown) =>
          logger.warn({ err, stream }, "event not delivered, the sweep will deliver it"),
        );
    },
  };
}
