import type { RecordedEvent } from "#events/envelope.ts";
import {
  readJournal,
  type Attempt,
  type Effect,
  type InjectedFault,
  type FeedEnd,
  type Operation,
  type FeedMessage,
  type Readiness,
} from "../journal.ts";

/** Input of the checks: the clients' journal and the log. */
export interface Evidence {
  operations: Operation[];
  attempts: Map<string, Attempt[]>;
  faults: InjectedFault[];
  /** What `/readyz` said. */
  readiness: Readiness[];
  events: RecordedEvent[];
  /** Events by the operation that caused them. */
  eventsOf: Map<string, RecordedEvent[]>;
  turns: Turn[];
  /** Outside effects of workflow steps. */
  effects: Effect[];
  /** Received feed messages and the end of listening; undefined if it never ended. */
  feed: FeedMessage[];
  feedEnd: FeedEnd | undefined;
  /** JSON of run values stored in blobs, by blob. */
  values: Map<string, string>;
}

/** A turn, from the log. */
export interface Turn {
  id: string;
  thread: string;
  operation: string;
  /** The request that started it, `<operation>.<attempt>`. */
  request_id: string;
  /** Positions of the first and the last of its events; `to` undefined while it is open. */
  from: number;
  to: number | undefined;
  end: "completed" | "failed" | "stopped" | "refused" | undefined;
  takeovers: number;
  /** Number of approvals of its calls that are pending. */
  asking: number;
  /** The answer; undefined if erased. */
  text: string | undefined;
  files: string[] | undefined;
}

/** Groups values by a key. */
export function grouped<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** The operation behind a request id: all requests of the harness have ids `<operation>.<attempt>`, which their events carry. */
export const operationOf = (requestId: string): string => requestId.replace(/\.\d+$/, "");

const ENDS: Record<string, NonNullable<Turn["end"]>> = {
  TurnCompleted: "completed",
  TurnFailed: "failed",
  TurnStopped: "stopped",
  TurnRefused: "refused",
};

/** The turns of a log; an open turn in a deleted thread ended with the thread. */
export function turnsOf(events: RecordedEvent[]): Turn[] {
  const turns = new Map<string, Turn>();
  for (const { type, stream, position, data, personal, meta } of events as RecordedEvent<any>[]) {
    if (type === "ThreadDeleted")
      for (const turn of turns.values()) if (turn.thread === stream && turn.to === undefined) turn.to = position;
    const turn = turns.get(data.turn_id);
    if (type === "TurnStarted")
      turns.set(data.turn_id, {
        id: data.turn_id,
        thread: stream,
        operation: operationOf(meta.request_id),
        request_id: meta.request_id,
        from: position,
        to: undefined,
        end: undefined,
        takeovers: 0,
        asking: 0,
        text: undefined,
        files: personal?.input.prompt?.messages.flatMap((message: any) =>
          message.attachments.map((file: any) => file.sha256),
        ),
      });
    else if (turn && type === "TurnTakenOver") turn.takeovers += 1;
    else if (turn && type === "ToolApprovalRequested") turn.asking += 1;
    else if (turn && /^ToolApproval(Decided|Expired|Cancelled)$/.test(type)) turn.asking -= 1;
    else if (turn && type in ENDS) Object.assign(turn, { to: position, end: ENDS[type], text: personal?.said.text });
  }
  return [...turns.values()];
}

export function gatherEvidence(journalFile: string, events: RecordedEvent[], values: Map<string, string>): Evidence {
  const notes = readJournal(journalFile);
  const attempts = notes.filter((note) => note.kind === "attempt");
  return {
    operations: notes.filter((note) => note.kind === "operation"),
    attempts: grouped(attempts, (attempt) => attempt.operation),
    faults: notes.filter((note) => note.kind === "fault"),
    readiness: notes.filter((note) => note.kind === "readiness"),
    events,
    eventsOf: grouped(events, (event) => operationOf(event.meta.request_id)),
    turns: turnsOf(events),
    effects: notes.filter((note) => note.kind === "effect"),
    feed: notes.filter((note) => note.kind === "feed"),
    feedEnd: notes.find((note) => note.kind === "feed_end"),
    values,
  };
}
