import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { Operation } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, stuck, type Finding } from "./finding.ts";
import { runsOf } from "./runHistories.ts";

/** An event that a client sent to runs, from the log. */
interface Message {
  id: string;
  posted: number;
  delivered: number | undefined;
  delivered_at: number;
  /** Number of runs it reached, as its delivery counted them. */
  reached: number | undefined;
}

function messagesOf(events: RecordedEvent<any>[]): { messages: Message[]; findings: Finding[] } {
  const streams = grouped(
    events.filter(({ stream }) => stream.startsWith("message-")),
    ({ stream }) => stream,
  );
  const findings: Finding[] = [];
  const messages = [...streams].map(([stream, own]): Message => {
    const [posted, ...delivered] = own;
    if (delivered.length === 0) findings.push(stuck("I8", stream, "was not delivered"));
    if (delivered.length > 1) findings.push(doubled("I10", stream, `has ${own.length} events`));
    const [end] = delivered;
    const { id } = parseStreamName(stream);
    const delivered_at = end?.recorded_at.getTime() ?? Infinity;
    return { id, posted: posted!.position, delivered_at, delivered: end?.position, reached: end?.data.reached };
  });
  return { messages, findings };
}

/** I1 and I3: an acknowledged event is in the log, once for each id, and its answer is what was delivered. */
function checkSent(same: Operation[], messages: Map<string, Message>): Finding[] {
  const about = `event ${same[0]!.asked["event"]}`;
  const done = same.filter(({ outcome }) => outcome === "done");
  const ids = new Set(done.map(({ got }) => got["message_id"] as string));
  if (ids.size > 1) return [doubled("I3", about, `is the messages ${[...ids].join(", ")}`)];
  return done.flatMap(({ got }): Finding[] => {
    const message = messages.get(got["message_id"]);
    if (!message) return [lost("I1", about, `the message ${got["message_id"]} is not in the log`)];
    return got["reached"] === null || got["reached"] === message.reached
      ? []
      : [different("I1", about, `${got["reached"]} runs were acknowledged, the log has ${message.reached}`)];
  });
}

interface Wait {
  run_id: string;
  started: number;
  /** When it times out. A process may notice later. */
  expires_at: number;
  /** The id in the event's data that it waits for. */
  match: unknown;
  /** Position of its answer, its timeout or the end of the run. */
  ended: number;
  message_id: string | undefined;
}

const waitsOf = (events: Evidence["events"]): Wait[] =>
  runsOf(events).flatMap((run) =>
    run.events
      .filter(({ type }) => type === "MessageWaitStarted")
      .map(({ position, data: { key, expires_at }, personal }): Wait => {
        const end = run.events.find(
          ({ type, data }) => (type === "WaitAnswered" || type === "WaitTimedOut") && data.key === key,
        );
        return {
          run_id: run.id,
          started: position,
          expires_at: expires_at ? Date.parse(expires_at) : Infinity,
          match: personal?.match.id,
          ended: (end ?? run.ends[0])?.position ?? Infinity,
          message_id: end?.data.message_id,
        };
      }),
  );

/** I10: an event answers every matching wait that precedes it and has not timed out, and counts each run once. */
function checkReached(message: Message, wanted: unknown, waits: Wait[]): Finding[] {
  const { id, posted, delivered, delivered_at, reached } = message;
  const answered = waits.filter(({ message_id }) => message_id === id);
  const runs = new Set(answered.map(({ run_id }) => run_id)).size;
  const open = waits.filter(
    ({ match, started, ended, expires_at }) =>
      match === wanted && started < posted && ended > posted && expires_at > delivered_at,
  );
  return [
    ...answered
      .filter(({ started }) => started > posted)
      .map(({ run_id }) => different("I10", `message ${id}`, `answered the run ${run_id}, which waited only later`)),
    ...(reached === undefined || reached === runs
      ? []
      : [different("I10", `message ${id}`, `says that it reached ${reached} runs, it answered ${runs}`)]),
    ...open
      .filter(({ message_id, ended }) => message_id !== id && ended > (delivered ?? Infinity))
      .map(({ run_id }) => lost("I10", `message ${id}`, `did not reach the run ${run_id}, which waited for it`)),
  ];
}

/** Events that clients send to runs. */
export function checkMessages({ operations, events }: Evidence): Finding[] {
  const { messages, findings } = messagesOf(events);
  const byId = new Map(messages.map((message) => [message.id, message]));
  const sent = operations.filter(({ what }) => what === "event.send");
  const wanted = new Map(sent.map(({ asked, got }) => [got["message_id"], asked["data"].id]));
  const waits = waitsOf(events);
  return [
    ...findings,
    ...[...grouped(sent, ({ asked }) => asked["event"]).values()].flatMap((same) => checkSent(same, byId)),
    ...messages.flatMap((message) => checkReached(message, wanted.get(message.id), waits)),
  ];
}
