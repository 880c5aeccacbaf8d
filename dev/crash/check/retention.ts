import { operationOf, type Evidence } from "./evidence.ts";
import { lost, stuck, type Finding } from "./finding.ts";

const DELETIONS = new Set(["ThreadDeleted", "FileDeleted", "DocumentDeleted"]);

/** I1: rules in days delete nothing during a run; only clients do. I8: a round of deletions ends. */
export function checkRetention({ operations, events }: Evidence): Finding[] {
  const known = new Set(operations.map(({ id }) => id));
  const set = events.findLast(({ type }) => type === "RetentionSet");
  const ended = events.findLast(({ type }) => type === "RetentionRoundEnded");
  return [
    ...events
      .filter(({ type, meta }) => DELETIONS.has(type) && !known.has(operationOf(meta.request_id)))
      .map(({ type, stream }) => lost("I1", stream, `${type}, which no client has asked for`)),
    ...(set && set.position > (ended?.position ?? 0)
      ? [stuck("I8", set.stream, `the round of the rules at ${set.position} has not ended`)]
      : []),
  ];
}
