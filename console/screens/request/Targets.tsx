import type { Trace } from "../../api/trace.ts";
import { formatCount, formatDuration } from "../../format/index.ts";

type Failure = Trace["failed_targets"][number];

const REASONS: Record<string, string> = {
  timeout: "said nothing in time",
  connection: "could not be reached",
  cut: "broke off its answer",
  refused: "refused the request",
  no_credential: "has no credential",
  circuit_open: "not asked: it failed too often before",
  context_length: "the prompt was too long for it",
  content_filter: "a filter stopped it",
};
const describeReason = (reason: string): string => REASONS[reason] ?? `answered ${reason}`;

const describeFailure = ({ reason, round, duration_ms }: Failure, severalRounds: boolean): string => {
  const took = reason === "circuit_open" || reason === "no_credential" ? "" : `, ${formatDuration(duration_ms)}`;
  return `${describeReason(reason)}${took}${severalRounds ? `, round ${round + 1}` : ""}`;
};

/** The outcome of each target, in the order of the alias. */
function outcomesOf({ targets = [], failed_targets, answered_by, rounds, status }: Trace) {
  const severalRounds = rounds.length > 1 || failed_targets.some(({ round }) => round > 0);
  const answered = new Set([...rounds.flatMap(({ model }) => model ?? []), ...(answered_by ? [answered_by] : [])]);
  return targets.map((target) => {
    const failures = failed_targets.filter((failure) => failure.target === target);
    const isAsked = answered.has(target) || failures.length > 0;
    return {
      target,
      failures: failures.map((failure) => describeFailure(failure, severalRounds)),
      last: answered.has(target)
        ? status === "completed"
          ? "answered"
          : "asked last"
        : isAsked || status === "running"
          ? undefined
          : "not needed",
    };
  });
}

/** For an alias: the asked targets, their failures, and the target that answered. */
export function Targets({ trace }: { trace: Trace }) {
  if (!trace.targets) return null;
  return (
    <section className="card part" aria-labelledby="targets">
      <h2 id="targets">Targets of {trace.model}</h2>
      <p className="quiet">
        {trace.failed_targets.length === 0
          ? "None failed."
          : `${formatCount(trace.failed_targets.length, "request")} failed or ${trace.failed_targets.length === 1 ? "was" : "were"} left out.`}
      </p>
      <ol>
        {outcomesOf(trace).map(({ target, failures, last }) => (
          <li key={target}>
            <span className="mono">{target}</span>
            {": "}
            {[...failures, ...(last ? [last] : [])].join("; then ")}
          </li>
        ))}
      </ol>
    </section>
  );
}
