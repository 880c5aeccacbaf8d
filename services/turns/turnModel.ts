import { currentTime } from "#events/clock.ts";
import type { EventLog } from "#events/ports.ts";
import type { Route } from "#events/route.ts";
import { askModel, type BrokenAttempt, type Retries } from "./askModel.ts";
import { askThroughCircuit } from "./askThroughCircuit.ts";
import { askTargets, type Estimate, type OpenModel, type Targets } from "./askTargets.ts";
import type { Circuits } from "./circuits.ts";
import type { AccessPrefetch } from "./accessPrefetch.ts";
import type { AskModel } from "./converse.ts";
import { withCost } from "./cost.ts";
import { estimateUsage, type TokenCounter } from "./estimateUsage.ts";
import type { Models } from "./model.ts";
import { findModelAccess, findRouteWindow, type CredentialSources, type ModelAccess } from "./modelAccess.ts";
import { withModelSpans } from "./modelSpans.ts";
import { describeFailure, type TargetFailure } from "./nextTarget.ts";
import { retryKey, type RetryBudget } from "./retryBudget.ts";
import { readFailures, readReplacedAnswers, type ReplacedAnswer } from "./targetFailures.ts";
import { providerOf } from "./threadMessage.ts";
import type { TurnToRun } from "./turnToRun.ts";

export interface TurnModelOptions extends Omit<CredentialSources, "log">, TokenCounter {
  log: EventLog;
  models: Models;
  circuits: Circuits;
  retryBudget: RetryBudget;
  /** Look-ups made before the turn began. */
  accessPrefetch: Pick<AccessPrefetch, "take">;
  /** Called when a provider refuses its credential; `details`: the provider's message. */
  onCredentialRefused(details: string, turn: TurnToRun): void;
}

/** The targets that a turn has asked so far, if its model is an alias. */
export type AskedTargets = Pick<Targets, "lastAsked" | "failures">;

/** How a turn asks its model: the one it names, or the targets of its alias. */
export interface TurnModel {
  ask: AskModel;
  /** Estimates a request to the model that was asked last. */
  estimate: Estimate;
  routed: AskedTargets | undefined;
  /** Usage of requests whose answers were not used. New ones are added to this array. */
  replaced: ReplacedAnswer[];
  /** The context window of the model or of the alias's targets, in tokens; undefined if unknown. */
  findWindow(): Promise<number | undefined>;
}

interface OpenedModel extends OpenModel {
  /** Undefined if unknown. */
  window: number | undefined;
}

async function openModel(options: TurnModelOptions, organization: string, name: string): Promise<OpenedModel> {
  return openWith(options, await findModelAccess(options, organization, name));
}

function openWith(options: TurnModelOptions, { credential, price, window }: ModelAccess): OpenedModel {
  return {
    window,
    model: withModelSpans(options.models.open(credential), credential.provider),
    addCost: (usage) => withCost(usage, price),
    estimate: async (unreported) => withCost(await estimateUsage(options, unreported, window), price),
  };
}

function openTargets(
  options: TurnModelOptions,
  turn: TurnToRun,
  route: Route,
  recordFailure: (failure: TargetFailure) => Promise<void>,
): TurnModel {
  const { organization_id, turn_id, model: alias, streamed, agent, steps } = turn;
  const failures = readFailures(steps, turn_id);
  const targets: Targets = {
    organization_id,
    alias,
    route,
    streamed,
    circuits: options.circuits,
    retries: (target) => retriesOf(options.retryBudget, organization_id, target),
    failures,
    replaced: readReplacedAnswers(failures, true),
    lastAsked: undefined,
    estimate: (unreported) => estimateUsage(options, unreported),
    open: (target) => openModel(options, organization_id, target),
    recordFailure,
    onCredentialRefused: (details) => options.onCredentialRefused(details, turn),
  };
  return {
    routed: targets,
    replaced: targets.replaced,
    findWindow: () => findRouteWindow(options, organization_id, route),
    estimate: (unreported) => targets.estimate(unreported),
    ask: (request, rounds, signal, onFrame) =>
      askTargets(targets, {
        request,
        round: rounds.length,
        first: rounds.findLast(({ model }) => model !== undefined)?.model,
        signal,
        // a response names its model only at its end, and older processes fold over these frames as well
        onFrame: (frame) => (agent && frame.type === "target" ? undefined : onFrame(frame)),
      }),
  };
}

function retriesOf(budget: RetryBudget, organization_id: string, model: string): Retries {
  const key = retryKey(organization_id, providerOf(model));
  return { count: () => budget.countRequest(key), take: () => budget.takeRetry(key) };
}

/** Throws a ModelError if a model named by the turn itself has no credential. */
export async function openTurnModel(
  options: TurnModelOptions,
  turn: TurnToRun,
  recordFailure: (failure: TargetFailure) => Promise<void>,
): Promise<TurnModel> {
  if (turn.route) return openTargets(options, turn, turn.route, recordFailure);
  const { organization_id, turn_id, model: name, steps } = turn;
  const access =
    (await options.accessPrefetch.take(turn_id)) ?? (await findModelAccess(options, organization_id, name));
  const { model, addCost, estimate, window } = openWith(options, access);
  const retries = retriesOf(options.retryBudget, organization_id, name);
  const replaced = readReplacedAnswers(readFailures(steps, turn_id), false);
  // in the log, so that the turn still knows it after it has waited for a person or lost its worker
  const countBroken = async (round: number, { unreported, cause, duration_ms }: BrokenAttempt): Promise<void> => {
    const usage = await estimate(unreported);
    replaced.push({ usage });
    await recordFailure({ round, target: name, reason: describeFailure(cause, true).reason, duration_ms, usage });
  };
  return {
    async ask(request, rounds, signal, onFrame) {
      const left_ms = Date.parse(turn.ends_by) - currentTime();
      const countInRound = (broken: BrokenAttempt) => countBroken(rounds.length, broken);
      const answer = await askThroughCircuit(options.circuits, { organization_id, name, signal, left_ms }, () =>
        askModel(model, request, signal, onFrame, retries, countInRound),
      );
      return { ...answer, usage: addCost(answer.usage) };
    },
    estimate,
    routed: undefined,
    replaced,
    findWindow: async () => window,
  };
}
