import { streamName } from "#events/ids.ts";
import type { FramePayload } from "#events/ports.ts";
import { openModels } from "#infra/models/index.ts";
import { countPrompt, countTokens } from "#infra/models/tokens.ts";
import { getAgent } from "#projections/agents/query.ts";
import { hasProjected } from "#projections/progress.ts";
import { listParkedThreads } from "#projections/runs/approvals.ts";
import { countParkedTurns } from "#projections/turns/parked.ts";
import type { Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { createAgentEnder } from "#services/turns/endOfAgents.ts";
import { circuitPrefix, createCircuits } from "#services/turns/circuits.ts";
import { createRetryBudget } from "#services/turns/retryBudget.ts";
import { createRecentHistories } from "#services/turns/recentHistories.ts";
import { createTurnMemory } from "#services/turns/turnMemory.ts";
import { createAccessPrefetch } from "#services/turns/accessPrefetch.ts";
import { runTurn, type TurnRunnerOptions } from "#services/turns/run.ts";
import { estimateLost } from "#services/turns/lostRequest.ts";
import { createStepRecorder } from "#services/turns/steps.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import type { Tools } from "#services/turns/tools/index.ts";
import { createTurns } from "#services/turns/turns.ts";
import { deploymentCredentials } from "./credentials.ts";
import { openTurnBudgets } from "./turnBudgets.ts";
import type { Resources } from "./resources.ts";

/** Maximum bytes of attachments held by the turns of a process; requests to providers hold them several times, encoded. Beyond it, turns wait. */
const MAX_FILE_BYTES = 128_000_000;
/** An organization's share. A turn with more takes the whole share. */
const MAX_FILE_BYTES_OF_ORGANIZATION = MAX_FILE_BYTES / 2;

/** Turns whose attachments exceed the total limit run one at a time: one may have 400 MiB (spec: Limits). */
function openFileRoom() {
  const files = createFairSemaphore({ total: MAX_FILE_BYTES, perTenant: MAX_FILE_BYTES_OF_ORGANIZATION });
  const large = createFairSemaphore({ total: 1, perTenant: 1 });
  return function holdFiles<T>(organization: string, bytes: number, work: () => Promise<T>, signal: AbortSignal) {
    const hold = () => files.run(organization, work, signal, bytes);
    return bytes > MAX_FILE_BYTES ? large.run(organization, hold, signal) : hold();
  };
}

interface TurnWorkOptions {
  tools: Tools;
  budgets: BudgetWatch;
}

/** A services process's work on turns. */
export function openTurnWork(resources: Resources, handle: Handle, { tools, budgets }: TurnWorkOptions) {
  const { settings, logger, log, bus, worker, vault, keyring, db, clock } = resources;
  const models = openModels({ offline: settings.OFFLINE_MODELS, privateHosts: settings.PRIVATE_PROVIDER_HOSTS });
  const circuits = createCircuits({ onOpened: () => bus.faults.report("target_down") });
  bus.circuits.answer(worker, (organization) => circuits.list(circuitPrefix(organization)));
  const sources = { log, keyring, deployment: deploymentCredentials(settings), offline: settings.OFFLINE_MODELS };
  const accessPrefetch = createAccessPrefetch(sources, worker);
  const turnDeps: TurnRunnerOptions = {
    ...sources,
    now: clock.now,
    accessPrefetch,
    budgets: openTurnBudgets(resources, budgets),
    memory: createTurnMemory(),
    recentHistories: createRecentHistories(),
    maxHistoryText: settings.HISTORY_KILOBYTES * 1_000,
    holdFiles: openFileRoom(),
    vault,
    frames: bus.frames,
    models,
    retryBudget: createRetryBudget(),
    circuits,
    tools,
    handle,
    countTokens,
    countPrompt,
    onToolError: (error, { turn_id, request_id }, tool) =>
      logger.warn({ err: error, turn_id, request_id, tool }, "tool failed"),
    onCredentialRefused: (details, { organization_id, turn_id, request_id, model }) =>
      logger.warn({ details, organization_id, turn_id, request_id, model }, "provider refused its credential"),
    toolApprovals: {
      default_seconds: settings.TOOL_APPROVAL_HOURS * 3_600,
      max_parked: settings.ORGANIZATION_PARKED_TURNS,
      countParked: (organization: string) => countParkedTurns(db, organization),
      hasAgent: async (organization: string, id: string) => (await getAgent(db, organization, id)) !== undefined,
    },
  };
  const turns = createTurns({
    log,
    now: clock.now,
    frames: bus.frames,
    worker,
    send: sendTo(handle, worker),
    run: (turn, stopping) => runTurn(turnDeps, turn, stopping),
    readFrames: async (turn_id, blob) => {
      const bytes = await vault.get({ thing: streamName("turn", turn_id) }, blob);
      return bytes ? (JSON.parse(bytes.toString()) as FramePayload[]) : [];
    },
    storeFrames: (turn, frames) => createStepRecorder({ vault, handle }, turn).storeFrames(frames),
    estimateLost: (turn) =>
      estimateLost(turnDeps, turn).catch((err: unknown) => {
        logger.warn({ err, turn_id: turn.turn_id }, "usage of a lost worker's request not estimated");
        return undefined;
      }),
    onError: (error, { turn_id, request_id }) =>
      logger.error({ err: error, turn_id, request_id }, "turn interrupted, the sweep will take it over"),
  });
  return { ...turns, beforeCommit: accessPrefetch.begin };
}

/** A services process's work on deleted agents. */
export const openAgentWork = (
  { logger, db, worker }: Resources,
  handle: Handle,
  { endParked }: ReturnType<typeof openTurnWork>,
) =>
  createAgentEnder({
    listParkedThreads: async (organization, agent_id, position) =>
      (await hasProjected(db, ["runs"], position)) ? listParkedThreads(db, organization, agent_id) : undefined,
    endParked,
    send: sendTo(handle, worker),
    onError: (error, stream) => logger.warn({ err: error, stream }, "turns of a deleted agent not ended, retrying"),
  });
