import { setTimeout as sleep } from "node:timers/promises";
import type { FramePayload } from "#events/ports.ts";
import type { Route } from "#events/route.ts";
import { NO_OUTPUT, type Usage } from "#events/thread.ts";
import { AnswerInterrupted, askOnce, hasOutput, backoffDelay, type ModelAnswer, type Retries } from "./askModel.ts";
import { circuitKey, type Circuits } from "./circuits.ts";
import { ModelError, type Model, type ModelRequest } from "./model.ts";
import {
  CIRCUIT_OPEN,
  CONTENT_FILTER,
  describeFailure,
  failureReason,
  hasAttemptsLeft,
  shouldAskNextTarget,
  MissingCredential,
  nextTarget,
  spentMs,
  type TargetFailure,
} from "./nextTarget.ts";
import type { UnreportedRequest } from "./estimateUsage.ts";
import { relayFrames } from "./relayFrames.ts";
import type { ReplacedAnswer } from "./targetFailures.ts";
import { findSilence } from "./silentTargets.ts";
import { describeAbort, outcomeOf } from "./targetOutcome.ts";

/** Estimates the usage of a request that broke off, with its cost. */
export type Estimate = (unreported: UnreportedRequest) => Promise<Usage>;

/** The client of a model, and the prices of its requests. */
export interface OpenModel {
  model: Model;
  addCost(usage: Usage): Usage;
  estimate: Estimate;
}

/** The targets of one turn whose model is an alias. */
export interface Targets {
  organization_id: string;
  /** The alias, for messages. */
  alias: string;
  route: Route;
  /** What the turn has recorded so far. New failures are added to this array. */
  failures: TargetFailure[];
  /** Usage of answers that another target's answer has replaced. New ones are added to this array. */
  replaced: ReplacedAnswer[];
  circuits: Circuits;
  /** The retries left for the provider of a target. */
  retries(target: string): Retries;
  /** Whether readers get each word as it arrives. */
  streamed: boolean;
  /** The target that was asked last. */
  lastAsked: string | undefined;
  /** Estimates a request to that target. */
  estimate: Estimate;
  /** The client of a target. Throws ModelError with the status 404 when its provider has no credential. */
  open(target: string): Promise<OpenModel>;
  /** Resolves when the failure is recorded. Throws TurnLost. */
  recordFailure(failure: TargetFailure): Promise<void>;
  /** Called when a provider refuses its credential and another target is asked. `details`: the provider's message. */
  onCredentialRefused(details: string): void;
}

interface Question {
  request: ModelRequest;
  round: number;
  /** The target that answered the previous round. */
  first: string | undefined;
  signal: AbortSignal;
  onFrame(frame: FramePayload): void;
}

type RoutedAnswer = ModelAnswer & { model: string };

/** A complete answer that may not have been sent to readers yet. */
interface GivenAnswer {
  answer: RoutedAnswer;
  /** Sends the rest to readers. */
  deliver(): RoutedAnswer;
}

/** Whether a filter stopped an answer before readers saw any of it, and the route tries another target in this case. */
function isFiltered({ route, streamed }: Targets, { finish_reason, output }: ModelAnswer): boolean {
  if (finish_reason !== CONTENT_FILTER || !shouldAskNextTarget(route, CONTENT_FILTER)) return false;
  return !streamed || (output.text === "" && output.reasoning === "" && output.citations.length === 0);
}

/** How a target was chosen. */
interface TargetChoice {
  wasClosed: boolean;
  /** Whether the round has not asked it before. */
  isFirst: boolean;
}

/**
 * Asks one target once, and reports the outcome to its circuit. Returns undefined, without a request, if the circuit was closed
 * when the target was chosen but no longer is: of many turns that come while a probe is due, one makes it. Throws
 * AnswerInterrupted.
 */
async function askTarget(
  targets: Targets,
  target: string,
  question: Question,
  { wasClosed, isFirst }: TargetChoice,
): Promise<GivenAnswer | undefined> {
  const { route, circuits, organization_id, failures } = targets;
  const { signal, onFrame } = question;
  const { model, addCost, estimate } = await targets.open(target).catch((error: unknown) => {
    throw error instanceof ModelError && error.status === 404
      ? new AnswerInterrupted(NO_OUTPUT, new MissingCredential("refused", error.message, { status: 404 }))
      : error;
  });
  const key = circuitKey(organization_id, target);
  if (wasClosed && circuits.state(key) !== "closed") return undefined;
  // not before: a request that is not made must not allow others more retries
  if (isFirst) targets.retries(target).count();
  targets.estimate = estimate;
  const request = { ...question.request, model: target.slice(target.indexOf("/") + 1), streamed: true };
  const timeout_ms = route.timeout_seconds * 1_000;
  const left = route.max_seconds * 1_000 - spentMs(failures);
  const relay = relayFrames(target, { streamed: targets.streamed, onFrame });
  const report = circuits.begin(key);
  const since = performance.now();
  try {
    const given = await askOnce(model, request, signal, relay.onFrame, Math.min(timeout_ms, left));
    report("answered");
    const answer = { ...given, usage: addCost(given.usage), model: target };
    const deliver = () => {
      relay.flush();
      return answer;
    };
    return { answer, deliver };
  } catch (error) {
    const cause = error instanceof AnswerInterrupted ? error.cause : error;
    const spoke = error instanceof AnswerInterrupted && hasOutput(error);
    const hasBegun = error instanceof AnswerInterrupted && error.hasBegun;
    if (signal.aborted) report(...describeAbort(signal, hasBegun, performance.now() - since));
    else report(outcomeOf(cause, left >= timeout_ms), describeFailure(cause, spoke));
    if (signal.aborted || (spoke && targets.streamed)) relay.flush();
    throw error;
  }
}

const waitLeft = (notBefore: number | undefined): { retry_after_ms: number | undefined } => ({
  retry_after_ms: notBefore === undefined ? undefined : Math.max(0, notBefore - performance.now()),
});

/** Records the targets skipped because their circuits are open, once per round. */
async function recordSkipped(targets: Targets, round: number, skipped: string[]): Promise<void> {
  const known = new Set(targets.failures.filter((failure) => failure.round === round).map(({ target }) => target));
  for (const target of skipped)
    if (!known.has(target)) await record(targets, { round, target, reason: CIRCUIT_OPEN, duration_ms: 0 });
}

async function record({ failures, recordFailure }: Targets, failure: TargetFailure): Promise<void> {
  await recordFailure(failure);
  failures.push(failure);
}

/** Counts an answer that broke off before anybody saw it, because its provider charges it. */
async function countBroken(targets: Targets, target: string, { unreported }: AnswerInterrupted) {
  if (!unreported) return undefined;
  const usage = await targets.estimate(unreported);
  targets.replaced.push({ usage, model: target });
  return usage;
}

/** Records a failed request. Throws its error if readers saw a part of the answer, because then no other target may answer. */
async function recordBroken(
  targets: Targets,
  request: Pick<TargetFailure, "round" | "target" | "reason" | "duration_ms">,
  error: AnswerInterrupted,
): Promise<void> {
  const isSeen = targets.streamed && hasOutput(error);
  const usage = isSeen ? undefined : await countBroken(targets, request.target, error);
  await record(targets, { ...request, ...(usage && { usage }) });
  if (isSeen) throw error;
}

/** The error that ends the turn after the last target has failed. */
function allFailed(targets: Targets, last: ModelError | undefined): AnswerInterrupted {
  const silence = last ? undefined : findSilence(targets);
  if (silence) return new AnswerInterrupted(NO_OUTPUT, silence);
  const reason = last ? ` ${last.message}` : "";
  const { status, retry_after_ms } = last ?? {};
  const options = { ...(status !== undefined && { status }), ...(retry_after_ms !== undefined && { retry_after_ms }) };
  const message = `No target of the alias ${targets.alias} answered.${reason}`;
  return new AnswerInterrupted(NO_OUTPUT, new ModelError(last?.kind ?? "transient", message, options));
}

/**
 * Asks the targets of an alias one after the other until one answers. Records each failure before the next request. Once a target
 * has sent output to readers, no other is asked. An answer stopped by a filter is used only if no other target answers. Throws
 * AnswerInterrupted.
 */
export async function askTargets(targets: Targets, question: Question): Promise<RoutedAnswer> {
  const { route, circuits, organization_id, failures } = targets;
  const { round, first, signal } = question;
  const circuit = (target: string) => circuits.state(circuitKey(organization_id, target));
  /** The earliest time (`performance.now()`) at which a target that asked for a wait may be asked again. */
  const notBefore = new Map<string, number>();
  let filtered: GivenAnswer | undefined;
  /** Counts the filtered answer, which its provider charges, although nobody gets it. */
  const dropFiltered = (): void => {
    if (filtered) targets.replaced.push({ usage: filtered.answer.usage, model: filtered.answer.model });
    filtered = undefined;
  };
  const giveUp = (error: () => unknown): RoutedAnswer => {
    if (filtered && !signal.aborted) return filtered.deliver();
    throw error();
  };
  try {
    for (let last: ModelError | undefined; ; ) {
      const ofRound = failures.filter((failure) => failure.round === round);
      const choice = hasAttemptsLeft(route, failures) ? nextTarget(route, ofRound, { first, circuit }) : undefined;
      const wait = choice && choice.tried > 0 ? backoffDelay(waitLeft(notBefore.get(choice.target)), choice.tried) : 0;
      if (!choice || wait === undefined) return giveUp(() => allFailed(targets, last));
      const { target, skipped } = choice;
      const wasClosed = circuit(target) === "closed";
      await recordSkipped(targets, round, skipped);
      const isFirst = choice.tried === 0;
      if (!isFirst && !targets.retries(target).take()) return giveUp(() => allFailed(targets, last));
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => Promise.reject(allFailed(targets, last)));
      targets.lastAsked = target;
      const since = performance.now();
      const duration_ms = () => Math.round(performance.now() - since);
      try {
        const given = await askTarget(targets, target, question, { wasClosed, isFirst });
        if (!given) continue;
        dropFiltered();
        if (!isFiltered(targets, given.answer)) return given.deliver();
        filtered = given;
        const { usage } = given.answer;
        await record(targets, { round, target, reason: CONTENT_FILTER, duration_ms: duration_ms(), usage });
      } catch (error) {
        if (!(error instanceof AnswerInterrupted) || !(error.cause instanceof ModelError) || signal.aborted)
          throw error;
        last = error.cause;
        if (last.retry_after_ms !== undefined) notBefore.set(target, performance.now() + last.retry_after_ms);
        const reason = failureReason(last, hasOutput(error));
        await recordBroken(targets, { round, target, reason, duration_ms: duration_ms() }, error);
        if (!shouldAskNextTarget(route, reason === "cut" ? "connection" : reason, last.status))
          return giveUp(() => new AnswerInterrupted(NO_OUTPUT, error.cause));
        if (last.details !== undefined) targets.onCredentialRefused(last.details);
      }
    }
  } catch (error) {
    dropFiltered();
    throw error;
  }
}
