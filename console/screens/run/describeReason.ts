import type { Attempt, StepReason } from "../../api/run.ts";

/* Describes in words why a step was executed. */

type Change = StepReason["changes"][number];

const describeChange = ({ what, step, from, to }: Change): string => {
  if (what === "version") return `version ${to} of the code instead of ${from}`;
  if (what === "run_arguments") return "other arguments of the run";
  return `another result of ${step ?? "an earlier step"}`;
};

const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

/** The differences before the step, as the end of a sentence. */
const because = (changes: readonly Change[], start: string): string =>
  changes.length === 0 ? "" : `${start}${listed(changes.map(describeChange))}`;

/** Undefined if no explanation is needed, because nothing executed it before. */
export function describeReason({ reason, parent, changes }: StepReason): string | undefined {
  if (!parent) return undefined;
  const before = parent.kind === "retry" ? "the run that this one retries" : "the run that this one was forked from";
  const differs = because(changes, ". This run has ");
  switch (reason) {
    case "no_parent":
      return undefined;
    case "parent_deleted":
      return `Nobody can see any more why it ran: ${before} has been deleted.`;
    case "inherited":
      return `It did not run here: its result is that of ${before}.`;
    case "set":
      return "It did not run here: its result was set when the run was forked.";
    case "failed":
      return `It ran again because it failed in ${before}${differs}.`;
    case "unanswered":
      return `It ran again because it had no result when ${before} ended${differs}.`;
    case "forked":
      return `It ran again with the same arguments because the fork executes ${parent.step ?? "its step"} and everything after it${differs}.`;
    case "arguments":
      return `It ran with other arguments than in ${before}${differs}.`;
    case "new_call":
      return `It ran because ${before} made no such call${differs}.`;
  }
}

/** Why an attempt followed the previous one; undefined for the first attempt. */
export function describeRetry(attempts: readonly Attempt[], n: number): string | undefined {
  const before = attempts.find((attempt) => attempt.n === n - 1);
  if (!before) return undefined;
  return before.status === "lost"
    ? `Because the process of attempt ${before.n} was lost.`
    : `Because attempt ${before.n} failed.`;
}
