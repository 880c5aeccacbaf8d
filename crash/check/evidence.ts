import type { Recorded } from "#events/envelope.ts";
import {
  readJournal,
  type Attempt,
  type Effect,
  type Fault,
  type Listened,
  type Operation,
  type Told,
} from "../journal.ts";

/** What the checks look at: what the clients know, and what the log says. */
export interface Evidence {
  operations: Operation[];
  attempts: Map<string, Attempt[]>;
  faults: Fault[];
  events: Recorded[];
  /** Events by the operation whose request led to them. */
  eventsOf: Map<string, Recorded[]>;
  turns: Turn[];
  /** What steps of workflows have done outside. */
  effects: Effect[];
  /** What was heard of the feed, and until when; undefined where that never ended. */
  told: Told[];
  listened: Listened | undefined;
  /** JSON of values of runs that are in blobs, by blob. */
  values: Map<string, string>;
}

/** A turn as the log tells it. */
export interface Turn {
  id: string;
  thread: string;
  operation: string;
  /** The request that it was started by, `<operation>.<attempt>`. */
  request_id: string;
  /** Positions of the first and the last of its events; `to` undefined while it is open. */
  from: number;
  to: number | undefined;
  end: "completed" | "failed" | "stopped" | "refused" | undefined;
  takeovers: number;
  /** What was said; undefined when that was erased. */
  text: string | undefined;
  files: string[] | undefined;
}

/** Gathers values by a key. */
export function grouped<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** Every request of the harness is named `<operation>.<attempt>`, and so are the events that it led to. */
export const operationOf = (requestId: string): string => requestId.replace(/\.\d+$/, "");

const ENDS: Record<string, NonNullable<Turn["end"]>> = {
  TurnCompleted: "completed",
  TurnFailed: "failed",
  TurnStopped: "stopped",
  TurnRefused: "refused",
};

/** The turns of a log; one that is open in a deleted thread ended with it. */
export function turnsOf(events: Recorded[]): Turn[] {
  const turns = new Map<string, Turn>();
  for (const { type, stream, position, data, personal, meta } of events as Recorded<any>[]) {
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
        text: undefined,
        files: personal?.input.prompt?.messages.flatMap((message: any) =>
          message.attachments.map((file: any) => file.sha256),
        ),
      });
    else if (turn && type === "TurnTakenOver") turn.takeovers += 1;
    else if (turn && type in ENDS) Object.assign(turn, { to: position, end: ENDS[type], text: personal?.said.text });
  }
  return [...turns.values()];
}

export function gather(journalFile: string, events: Recorded[], values: Map<string, string>): Evidence {
  const notes = readJournal(journalFile);
  const attempts = notes.filter((note) => note.kind === "attempt");
  return {
    operations: notes.filter((note) => note.kind === "operation"),
    attempts: grouped(attempts, (attempt) => attempt.operation),
    faults: notes.filter((note) => note.kind === "fault"),
    events,
    eventsOf: grouped(events, (event) => operationOf(event.meta.request_id)),
    turns: turnsOf(events),
    effects: notes.filter((note) => note.kind === "effect"),
    told: notes.filter((note) => note.kind === "told"),
    listened: notes.find((note) => note.kind === "listened"),
    values,
  };
}
