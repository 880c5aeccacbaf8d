import type { CheckedRun, Difference } from "../../api/checkRuns.ts";

type Call = NonNullable<Difference["call"]>;

/** JSON pointers in one sentence, because the page has no room for more. */
const MAX_POINTERS = 5;

const KINDS: Record<string, string> = {
  runWait: "wait for a run",
  messageWait: "wait for an event",
  agent: "request to the agent",
  child: "start of a run",
};
const nameOf = (call: Call | null): string =>
  call ? `the ${KINDS[call.kind] ?? call.kind}${call.name === null ? "" : ` “${call.name}”`}` : "a call";

const at = (pointers: string[]): string => {
  const shown = pointers.slice(0, MAX_POINTERS).map((pointer) => pointer || "the whole value");
  const more = pointers.length - shown.length;
  return shown.length === 0 ? "" : `: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
};

const SENTENCES: Record<Difference["reason"], (difference: Difference) => string> = {
  arguments: ({ recorded, pointers }) => `It calls ${nameOf(recorded)} with other arguments${at(pointers)}.`,
  call: ({ call, recorded }) => `It calls ${nameOf(call)} instead of ${nameOf(recorded)}.`,
  missing: ({ recorded }) => `It does not call ${nameOf(recorded)}.`,
  added: ({ call }) => `It then calls ${nameOf(call)}, which the run did not.`,
  result: ({ pointers }) => `Its result differs${at(pointers)}.`,
  end: () => "One of the two waits or fails where the other ends.",
};

/** Where and how a stored run would take another path. */
export function describeOutcome({ outcome, difference, error }: CheckedRun): string {
  if (error) return `run() throws: ${error.message}`;
  if (difference) return SENTENCES[difference.reason](difference);
  return outcome === "unanswered"
    ? "It goes the same way to the end of the record, and then makes a call that nobody answered."
    : "";
}
