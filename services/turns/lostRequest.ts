import type { Usage } from "#events/thread.ts";
import { addRounds, MAX_ROUNDS } from "./converse.ts";
import { openConversation } from "./conversation.ts";
import { withCost } from "./cost.ts";
import { estimateUsage } from "./estimateUsage.ts";
import { joinFrames, openRoundFrames } from "./frames.ts";
import { readHistory, readPrompt, readTurnBlob, sizeToReserve } from "./history.ts";
import { findModelAccess, findRouteWindow } from "./modelAccess.ts";
import { buildModelRequest, distinctFiles } from "./modelRequest.ts";
import { hasAttemptsLeft, nextTarget, WORKER_LOST, type TargetFailure } from "./nextTarget.ts";
import { readRounds, type Round } from "./round.ts";
import type { TurnRunnerOptions } from "./run.ts";
import { readFailures } from "./targetFailures.ts";
import type { TurnMemoryShare } from "./turnMemory.ts";
import type { TurnToRun } from "./turnToRun.ts";

/* A lost worker leaves no record of its request in progress, which the provider charges all the same (ADR 98). */

/** How long an estimate waits for room. Without room the request is not counted. */
const MAX_WAIT_MS = 10_000;

/** A request whose answer was lost. */
export interface LostRequest {
  /** `provider/model`. */
  target: string;
  usage: Usage;
}

/** The failure that the log records for it. */
export const toTargetFailure = (round: number, { target, usage }: LostRequest): TargetFailure => ({
  round,
  target,
  reason: WORKER_LOST,
  duration_ms: 0,
  usage,
});

/** Whether a lost worker was asking the model, judging by the log: it held the turn, and nothing else was left to do. */
export function hasLostRequest(worker: string | null, rounds: Round[]): boolean {
  const { calls, results } = rounds.at(-1) ?? { calls: [], results: [] };
  const isDone = calls.every(({ client }, n) => !client && results[n] !== undefined);
  return worker !== null && isDone && rounds.length < MAX_ROUNDS;
}

/** The usage recorded for an earlier lost attempt at the same round, which sent the same request. */
export const findRecordedRequest = (failures: TargetFailure[], round: number): LostRequest | undefined => {
  const known = failures.findLast((failure) => failure.reason === WORKER_LOST && failure.round === round);
  return known?.usage && { target: known.target, usage: known.usage };
};

type Needs = Pick<
  TurnRunnerOptions,
  | "log"
  | "vault"
  | "keyring"
  | "deployment"
  | "offline"
  | "tools"
  | "memory"
  | "recentHistories"
  | "maxHistoryText"
  | "countTokens"
  | "countPrompt"
>;

/** The target that was asked: a stream's frames name it; otherwise it is the next one in turn. */
function findTarget({ route, model, turn_id, steps, receivedFrames }: TurnToRun, rounds: Round[]): string | undefined {
  if (!route) return model;
  const named = openRoundFrames(rounds, receivedFrames).find(({ type }) => type === "target");
  if (named?.type === "target") return named.model;
  const failures = readFailures(steps, turn_id);
  if (!hasAttemptsLeft(route, failures)) return undefined;
  const ofRound = failures.filter(({ round }) => round === rounds.length);
  const first = rounds.findLast((round) => round.model !== undefined)?.model;
  return nextTarget(route, ofRound, { first, circuit: () => "closed" })?.target;
}

/** Rebuilds the request, and describes its files, which an estimate need not load. */
async function rebuildRequest(options: Needs, turn: TurnToRun, rounds: Round[], share: TurnMemoryShare) {
  const { organization_id, turn_id, input, model, route } = turn;
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  const size = sizeToReserve(options, turn);
  if (!share.hasRoom(size)) await share.reserve(size, signal);
  const prompt = await readPrompt(options, turn_id, input);
  if (!prompt) return undefined;
  const history = turn.version > 1 ? await readHistory(options, turn, share, signal) : [];
  const findWindow = async () =>
    route
      ? findRouteWindow(options, organization_id, route)
      : (await findModelAccess(options, organization_id, model)).window;
  const { offers, messages } = await openConversation(options, turn, prompt, { history, findWindow });
  const texts = messages.map((message) => ({ ...message, attachments: [] }));
  const request = addRounds(await buildModelRequest(options, turn, prompt, offers, texts), rounds);
  return { request, files: messages.flatMap(distinctFiles) };
}

/**
 * Estimates the usage of the request that the attempt before `turn` was waiting for, including the part of its answer that readers
 * have. Undefined if the prompt was erased or no target is left. Throws if reading fails.
 */
export async function estimateLost(options: Needs, turn: TurnToRun): Promise<LostRequest | undefined> {
  const { organization_id, turn_id, steps, receivedFrames } = turn;
  const share = options.memory.open(organization_id);
  try {
    const rounds = await readRounds(steps, turn_id, (blob) => readTurnBlob(options, turn_id, blob));
    const target = findTarget(turn, rounds);
    const sent = target === undefined ? undefined : await rebuildRequest(options, turn, rounds, share);
    if (target === undefined || !sent) return undefined;
    const frames = openRoundFrames(rounds, receivedFrames);
    const answer = joinFrames(frames, "reasoning") + joinFrames(frames, "text");
    const access = await findModelAccess(options, organization_id, target).catch(() => undefined);
    const usage = await estimateUsage(options, { ...sent, answer }, access?.window);
    return { target, usage: withCost(usage, access?.price) };
  } finally {
    share.close();
  }
}
