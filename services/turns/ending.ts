import { Unavailable, type StopReason, type TurnEnd } from "#events/ports.ts";
import { CompleteTurn, FailTurn, NO_OUTPUT, NO_USAGE, RefuseTurn, StopTurn } from "#events/thread.ts";
import { turnUsage } from "#events/turnUsage.ts";
import { AnswerInterrupted } from "./askModel.ts";
import type { Estimate } from "./askTargets.ts";
import type { RoundAnswer } from "./converse.ts";
import { LimitReached } from "./turnBudgets.ts";
import { ModelError } from "./model.ts";
import type { AskedTargets } from "./turnModel.ts";
import type { ReplacedAnswer } from "./targetFailures.ts";
import { citeSources, joinOutputs, type Round } from "./round.ts";

/** Why a turn was aborted: its client or a deletion stopped it, its time is up, or another worker has taken it over. */
export type AbortReason = StopReason | "late" | "lost";
const MESSAGES: Partial<Record<AbortReason, string>> = {
  late: "The model did not finish within the time that a turn has.",
  deleted: "The thread was deleted while its turn was running.",
};

/** The command that ends a turn, and the end that its last frame reports. */
export type TurnEnding = {
  command: typeof CompleteTurn | typeof StopTurn | typeof FailTurn | typeof RefuseTurn;
  data: Record<string, unknown>;
  end: TurnEnd;
};

interface InterruptedTurn {
  rounds: Round[];
  /** Undefined if the turn was interrupted before a model was chosen. */
  estimate?: Estimate;
  of_agent: boolean;
  /** Set if the turn's model is an alias. */
  routed?: Pick<AskedTargets, "lastAsked"> | undefined;
  /** Usage of requests whose answers were not used. */
  replaced?: ReplacedAnswer[] | undefined;
  reason: AbortReason | undefined;
}

/** Ends a turn whose last answer is complete. */
export function endCompleted(
  last: RoundAnswer,
  { rounds, routed, replaced = [] }: Pick<InterruptedTurn, "rounds" | "routed" | "replaced">,
): TurnEnding {
  const { finish_reason } = last;
  const calls = last.calls.filter(({ client }) => client);
  const output = citeSources(joinOutputs([...rounds, last.output]), rounds);
  const said = calls.length > 0 ? { ...output, calls } : output;
  const used = turnUsage([...replaced, ...rounds, last], routed !== undefined);
  return {
    command: CompleteTurn,
    data: { finish_reason, ...used, said },
    end: { status: "completed", said, finish_reason, ...used },
  };
}

/** Ends a turn interrupted by `error`: as stopped, as failed with its output so far, or as refused. */
export async function endInterrupted(
  error: unknown,
  { rounds, estimate, of_agent, routed, replaced = [], reason }: InterruptedTurn,
): Promise<TurnEnding> {
  const open = error instanceof AnswerInterrupted ? error.output : NO_OUTPUT;
  const cause = error instanceof AnswerInterrupted ? error.cause : error;
  const said = citeSources(joinOutputs([...rounds, open]), rounds);
  const unreported = error instanceof AnswerInterrupted ? error.unreported : undefined;
  const last = unreported && estimate ? await estimate(unreported) : NO_USAGE;
  const target = unreported && routed?.lastAsked;
  const openRound = { usage: last, ...(target !== undefined && { model: target }) };
  const parts: ReplacedAnswer[] = [...replaced, ...rounds, openRound];
  // a later attempt may have been interrupted before it opened the alias
  const used = turnUsage(parts, routed !== undefined || parts.some(({ model }) => model !== undefined));
  if (reason === "stopped")
    return { command: StopTurn, data: { ...used, said }, end: { status: "stopped", said, message: "", ...used } };
  const message = (reason && MESSAGES[reason]) ?? describeCause(cause);
  // Work that a provider charges must be counted. Once tools have run, a retried request must not run them again. A response keeps
  // its id, which the client already has.
  if (unreported || rounds.length > 0 || replaced.length > 0 || of_agent) {
    const failed = { said, message, ...used, ...(cause instanceof LimitReached && { code: cause.code }) };
    return { command: FailTurn, data: failed, end: { status: "failed", ...failed } };
  }
  const { code, retry_after_ms } = refusalOf(cause);
  const advice = retry_after_ms === undefined ? {} : { retry_after_ms };
  return { command: RefuseTurn, data: { code, message }, end: { status: "refused", code, message, ...advice } };
}

/** `unavailable`: the service could not read something the turn needs; no provider is at fault. */
function refusalOf(cause: unknown): { code: string | null; retry_after_ms?: number | undefined } {
  if (cause instanceof LimitReached) return { code: cause.code, retry_after_ms: cause.retry_after_ms };
  if (cause instanceof Unavailable) return { code: "unavailable", retry_after_ms: cause.retry_after_ms };
  if (!(cause instanceof ModelError)) return { code: null };
  const code = cause.kind === "refused" && cause.status === 404 ? "model_not_found" : null;
  // without a status the wait is our own: until then, a model that is down is not asked
  const namesTime = cause.status === 429 || cause.status === undefined;
  return { code, retry_after_ms: namesTime ? cause.retry_after_ms : undefined };
}

function describeCause(cause: unknown): string {
  if (cause instanceof Unavailable) return "The service was temporarily unavailable; try again shortly.";
  return cause instanceof ModelError ? cause.message : "The model could not be asked.";
}
