import type { Command, CommandResult } from "#events/envelope.ts";
import { download } from "#infra/web/download.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { routeFrom, type Route } from "#events/route.ts";
import { HOUR_MS } from "#events/units.ts";
import { getAlias } from "#projections/aliases/query.ts";
import { getAgent, listAgentsNamed } from "#projections/agents/query.ts";
import { getAnyFile } from "#projections/files/query.ts";
import { resolveCollections } from "#projections/collections/query.ts";
import { estimateTokens } from "#projections/budgets/estimateTokens.ts";
import { reserveFor, sizeOfPrompt } from "#projections/budgets/reserve.ts";
import type { TurnAdmission } from "#projections/budgets/rateWatch.ts";
import { describeLimit } from "#projections/budgets/limits.ts";
import type { Tools } from "#services/turns/tools/index.ts";
import type { AgentDeps } from "#services/workflows/host/agent.ts";
import type { TurnDeps } from "#services/workflows/host/turnStart.ts";
import { createStepHosts } from "#services/workflows/host/index.ts";
import { createQueryTwice } from "./queryTwice.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { openContentLimits, openPromptLimits } from "./budgets.ts";
import type { OpenDownloadMemory } from "#services/turns/tools/web.ts";
import type { Resources } from "./resources.ts";

/** Maximum time of a fetch; the step's own timeout, by its signal, is shorter. */
const MAX_FETCH_MS = HOUR_MS;
async function findRoute({ db, settings }: Resources, organization: string, name: string): Promise<Route | undefined> {
  const alias = await getAlias(db, organization, name);
  return alias && routeFrom(alias, settings.REGION);
}

interface StepHostOptions {
  handle(command: Command): Promise<CommandResult>;
  budgets: BudgetWatch;
  tools: Tools;
  openDownloadMemory: OpenDownloadMemory;
}

/** Checks what is stored and budgets first, then limits per minute and on concurrency. */
function openLimits(resources: Resources, budgets: BudgetWatch): TurnDeps["askLimits"] {
  const { rates, logLimits } = resources;
  const findRefusedPrompt = openPromptLimits(resources);
  return async (spender, { turn_id, models, prompt, streamed }) => {
    const full = logLimits.refusal(spender.organization_id);
    if (full) return { refused: full.message, code: full.code };
    const reached = await budgets.check(spender);
    if (reached?.refuses) return { refused: describeLimit(reached) };
    const texts = prompt.messages.map(({ text }) => text);
    const tooLong = await findRefusedPrompt(spender.organization_id, texts);
    if (tooLong !== undefined) return { refused: tooLong, code: "storage_limit_reached" };
    const reading = budgets.reading(spender.organization_id);
    const files = prompt.messages.flatMap(({ attachments }) => attachments);
    const { priceOf } = reading;
    const cost = priceOf ? reserveFor(priceOf, models, sizeOfPrompt(prompt, texts, files)) : 0n;
    const turn = { turn_id, tokens: estimateTokens(prompt, texts), streamed, cost };
    const answer = await rates.admit(reading, spender, turn);
    if ("spent" in answer) return { refused: describeLimit(answer.spent) };
    const decision = "refused" in answer ? answer.refused : answer.admitted;
    budgets.note(spender.organization_id, decision.reached);
    if ("refused" in answer) return { rate_limited: answer.refused };
    const end: TurnAdmission["end"] = (...ended) => {
      answer.admitted.end(...ended);
      budgets.noteEnd(spender.organization_id);
    };
    return { admitted: { ...answer.admitted, end } };
  };
}

/** The dependencies for starting agents' turns. */
export function openAgentDeps(
  resources: Resources,
  { handle, budgets }: Pick<StepHostOptions, "handle" | "budgets">,
): AgentDeps {
  const { settings, db, log, vault, bus, clock } = resources;
  const queryTwice = createQueryTwice(resources);
  return {
    log,
    handle,
    vault,
    frames: bus.frames,
    askLimits: openLimits(resources, budgets),
    turn_ms: settings.TURN_SECONDS * 1_000,
    now: clock.now,
    findRoute: (organization, name) =>
      queryTwice("aliases", async () => findRoute(resources, organization, name), Boolean),
    agents: {
      find: (organization, id) => queryTwice("agents", () => getAgent(db, organization, id), Boolean),
      findIds: (run, name) =>
        queryTwice(
          "agents",
          () => listAgentsNamed(db, run, name),
          (ids) => ids.length > 0,
        ),
    },
    collections: {
      resolve: (organization, names) =>
        queryTwice(
          "collections",
          () => resolveCollections(db, organization, names),
          ({ unknown }) => unknown.length === 0,
        ),
    },
  };
}

/** The platform that workflow steps use. */
export function openStepHosts(resources: Resources, { handle, budgets, tools, openDownloadMemory }: StepHostOptions) {
  const { settings, db, log, keyring, logger, blobs } = resources;
  const fetch = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS });
  const queryTwice = createQueryTwice(resources);

  return createStepHosts({
    ...openAgentDeps(resources, { handle, budgets }),
    log,
    keyring,
    vault: resources.vault,
    blobs,
    admitContent: openContentLimits(resources, budgets),
    files: {
      find: (organization, id) => queryTwice("files", () => getAnyFile(db, organization, id), Boolean),
    },
    tools: {
      find: (organization, names) =>
        queryTwice(
          "definitions",
          () => tools.find(organization, names),
          (found) => found.length === names.length,
        ),
    },
    fetchFor: (organization) => async (url, init, permit, signal) => {
      const memory = openDownloadMemory(organization);
      const limits = { timeout_ms: MAX_FETCH_MS, permit, memory };
      try {
        const { status, headers, bytes } = await download(fetch, url.href, init, signal, limits);
        return { status, headers, text: bytes.toString("utf8") };
      } finally {
        memory.release();
      }
    },
    onSecret: ({ run_id, step_id, attempt }, name) =>
      logger.info({ run_id, step_id, attempt, secret: name }, "step read a secret"),
    onError: (error, { run_id, step_id, attempt }, what) =>
      logger.warn({ err: error, run_id, step_id, attempt, what }, "platform call of a step failed"),
  });
}
