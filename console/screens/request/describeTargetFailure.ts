import type { Trace } from "../../api/trace.ts";
import { formatCost, formatCount, formatDuration } from "../../format/index.ts";

type Failure = Trace["failed_targets"][number];

const REASONS: Record<string, string> = {
  timeout: "said nothing in time",
  connection: "could not be reached",
  cut: "broke off its answer",
  refused: "refused the request",
  no_credential: "has no credential",
  circuit_open: "not asked: it failed too often before",
  worker_lost: "the process that asked it was lost",
  context_length: "the prompt was too long for it",
  content_filter: "a filter stopped it",
};
/** Reasons of failures whose duration is unknown, or that took none. */
const WITHOUT_TIME = new Set(["no_credential", "circuit_open", "worker_lost"]);

function describeUsage({ usage }: Failure): string {
  if (!usage) return "";
  const tokens = formatCount(usage.prompt_tokens + usage.completion_tokens, "token");
  return usage.cost === undefined ? `, ${tokens}` : `, ${tokens} (${formatCost(usage.cost)})`;
}

/** Why a target did not answer, how long that took, and what it has used. */
export function describeTargetFailure(failure: Failure, severalRounds: boolean): string {
  const { reason, round, duration_ms } = failure;
  const took = WITHOUT_TIME.has(reason) ? "" : `, ${formatDuration(duration_ms)}`;
  const inRound = severalRounds ? `, round ${round + 1}` : "";
  return `${REASONS[reason] ?? `answered ${reason}`}${took}${describeUsage(failure)}${inRound}`;
}
