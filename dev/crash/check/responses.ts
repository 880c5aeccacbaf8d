import type { RecordedEvent } from "#events/envelope.ts";
import { REGENERATED_MESSAGE } from "#http/agents/responseStream.ts";
import { isGivenUp } from "#services/turns/takeOver.ts";
import type { Operation } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

/** Rounds are separated by blank lines in the log and by items in a response. */
const squeezed = (text: string): string => text.replace(/\s+/g, "");

/** Whether a fault of NATS overlapped the operation, so that it may have lost what a worker had sent since its last round. */
const lostFrames = ({ start, end }: Operation, { faults }: Pick<Evidence, "faults">): boolean =>
  faults.some(({ target, at, until = at }) => /\b(?:nats|everything)\b/.test(target) && at < end && until > start);

/** I11: a stream is numbered without a gap, ends once, and matches its response. */
function checkStream(operation: Operation, evidence: Pick<Evidence, "faults">): Finding[] {
  const { numbered, terminal, deltas, text, error } = operation.got;
  if (numbered === undefined) return [];
  const say = (what: string) => different("I11", operation, what);
  const [pieces, whole] = [squeezed(deltas), squeezed(text)];
  const saysSo = isGivenUp(error) || error === REGENERATED_MESSAGE;
  const mayHaveMore = saysSo && lostFrames(operation, evidence);
  const matches = mayHaveMore ? pieces.startsWith(whole) : pieces === whole;
  return [
    ...(numbered ? [] : [say("its events are not numbered one after the other")]),
    ...(terminal === 1 ? [] : [say(`it ended ${terminal} times`)]),
    ...(matches ? [] : [say("its pieces are not what its response says")]),
  ];
}

/** I1 and I11: an answered response is the one in the log. */
function checkStored(operation: Operation, { turns }: Evidence): Finding[] {
  const { response_id, status, text, error } = operation.got;
  const turn = turns.find(({ id }) => `resp_${id}` === response_id);
  if (!turn) return [lost("I1", operation, `the answered response ${response_id} is not in the log`)];
  // the bus died together with the worker: the stream reports it, and the stored response counts
  if (status === "failed" && error === REGENERATED_MESSAGE) return [];
  const says = (what: string) => different("I11", operation, what);
  if (status !== turn.end && !(status === "failed" && turn.end === "failed"))
    return [says(`answered as ${status}, but the turn is ${turn.end ?? "open"}`)];
  return turn.text !== undefined && squeezed(turn.text) !== squeezed(text)
    ? [says(`${text.length} characters were answered, ${turn.text.length} are stored`)]
    : [];
}

/** A finished tool call is never repeated. */
const checkCalls = (events: RecordedEvent<any>[]): Finding[] =>
  [
    ...grouped(
      events.filter(({ type }) => type === "ToolFinished"),
      ({ data }) => `${data.turn_id} ${data.round} ${data.call}`,
    ),
  ]
    .filter(([, ended]) => ended.length > 1)
    .map(([call, ended]) => doubled("I5", `call ${call}`, `ended ${ended.length} times`));

/** A response reads as it was answered, every time. */
function checkRead(read: Operation, answers: Map<string, Operation[]>): Finding[] {
  const [answer] = answers.get(read.asked["response_id"]) ?? [];
  if (!answer) return [];
  if (read.outcome === "refused") return [lost("I16", read, `${read.code} for an answered response`)];
  return squeezed(read.got["text"]) === squeezed(answer.got["text"])
    ? []
    : [different("I16", read, "is not the response that was answered")];
}

export function checkResponses(evidence: Evidence): Finding[] {
  const { operations, events } = evidence;
  const done = operations.filter(({ what, outcome }) => what === "agent.respond" && outcome === "done");
  const answers = grouped(
    done.filter(({ got }) => got["status"] === "completed"),
    ({ got }) => got["response_id"],
  );
  const reads = operations.filter(
    ({ what, outcome }) => (what === "agent.read" || what === "agent.replay") && outcome !== "unknown",
  );
  return [
    ...done.flatMap((operation) => [...checkStream(operation, evidence), ...checkStored(operation, evidence)]),
    ...reads.flatMap((read) => [
      ...(read.outcome === "done" ? checkStream(read, evidence) : []),
      ...checkRead(read, answers),
    ]),
    ...checkCalls(events),
  ];
}
