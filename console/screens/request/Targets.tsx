import type { Trace } from "../../api/trace.ts";
import { formatCount } from "../../format/index.ts";
import { describeTargetFailure } from "./describeTargetFailure.ts";

/** The outcome of each target, in the order of the alias. */
function outcomesOf({ targets = [], failed_targets, answered_by, rounds, status }: Trace) {
  const severalRounds = rounds.length > 1 || failed_targets.some(({ round }) => round > 0);
  const answered = new Set([...rounds.flatMap(({ model }) => model ?? []), ...(answered_by ? [answered_by] : [])]);
  return targets.map((target) => {
    const failures = failed_targets.filter((failure) => failure.target === target);
    const isAsked = answered.has(target) || failures.length > 0;
    return {
      target,
      failures: failures.map((failure) => describeTargetFailure(failure, severalRounds)),
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
