import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { TurnOutput } from "#events/thread.ts";
import { decodeEvent } from "#infra/postgres/decode.ts";
import type { AcknowledgedRequest } from "./client.ts";
import type { Database } from "./database.ts";
import { keyring } from "./node.ts";

/** The state after a run. */
export interface Evidence {
  database: Database;
  acknowledged: AcknowledgedRequest[];
  /** Number of requests that were never answered. */
  unanswered: number;
  buried: unknown[];
}

const ENDS = ["TurnCompleted", "TurnFailed", "TurnStopped", "TurnRefused"];

/** All events of the log, as readers get them. */
function eventsOf({ tables }: Database): RecordedEvent<any>[] {
  return tables.events.map((row) =>
    decodeEvent({ ...row, wrapped: (row.thing && tables.keys.get(row.thing)?.wrapped) || null }, keyring),
  );
}

/** Violations of the promises, in words; empty if there are none. */
export function findingsIn(evidence: Evidence): string[] {
  let events: RecordedEvent<any>[];
  try {
    events = eventsOf(evidence.database);
  } catch (error) {
    return [`the log cannot be read: ${String(error)}`];
  }
  const threads = Map.groupBy(events, ({ stream }) => stream);
  return [
    ...orderOf(events, evidence.database),
    ...[...threads.values()].flatMap(turnsOf),
    ...keysOf(events, evidence.database),
    ...acknowledgedIn(events, evidence.acknowledged),
    ...(evidence.unanswered > 0 ? [`${evidence.unanswered} requests were never answered`] : []),
    ...evidence.buried.map((error) => `a message was given up: ${String(error)}`),
  ];
}

/** Positions and versions have no gap, and the follower has seen each event once and in order. */
function orderOf(events: RecordedEvent[], { tables, checkpoint }: Database): string[] {
  const found: string[] = [];
  const versions = new Map<string, number>();
  events.forEach(({ position, stream, version }, n) => {
    if (position !== n + 1) found.push(`position ${position} is at ${n + 1}`);
    if (version !== (versions.get(stream) ?? 0) + 1) found.push(`version ${version} follows in ${stream}`);
    versions.set(stream, version);
  });
  for (const [stream, { version }] of tables.streams)
    if (version !== versions.get(stream)) found.push(`the head of ${stream} is at ${version}`);
  if (checkpoint.seen.join() !== events.map(({ position }) => position).join())
    found.push(`the follower saw ${checkpoint.seen.join()} of ${events.length} events`);
  return found;
}

/** Turns do not overlap. Each starts once and ends once, by its newest attempt and with the words of one attempt. */
function turnsOf(events: RecordedEvent<any>[]): string[] {
  const found: string[] = [];
  const begun = new Set<string>();
  let turn: { id: string; attempt: number } | undefined;
  for (const { type, data, personal, position } of events) {
    const fault = (what: string) => found.push(`${what}: ${type} at ${position}`);
    if (type === "TurnStarted") {
      if (turn) fault("turns overlap");
      if (begun.has(data.turn_id)) fault("a turn begins twice");
      begun.add(data.turn_id);
      turn = { id: data.turn_id, attempt: 1 };
    } else if (type === "ThreadDeleted") turn = undefined;
    else if (turn?.id !== data.turn_id) fault("no such turn was running");
    else if (type === "TurnTakenOver") {
      if (data.attempt !== turn!.attempt + 1) fault("an attempt does not follow");
      turn!.attempt = data.attempt;
    } else if (ENDS.includes(type)) {
      if (data.attempt !== turn!.attempt) fault("an older attempt ends the turn");
      const fit = type === "TurnFailed" ? saidByOne : saidBy(data.attempt);
      if (personal && !fit(data.turn_id, personal.said)) fault(`words of another attempt (${personal.said.text})`);
      turn = undefined;
    }
  }
  if (turn) found.push(`turn ${turn.id} never ended`);
  return found;
}

const wordsOf = ({ text }: TurnOutput) =>
  text
    .split(";")
    .slice(0, -1)
    .map((word) => word.split("/"));

const saidBy = (attempt: number) => (id: string, said: TurnOutput) =>
  wordsOf(said).every(([of, by, n], at) => of === id && by === String(attempt) && n === String(at));

/** The output of a lost worker is rebuilt from frames. Some may be lost, and they may be from an older attempt. */
function saidByOne(id: string, said: TurnOutput): boolean {
  const words = wordsOf(said);
  const numbers = words.map(([, , n]) => Number(n));
  const rising = numbers.every((n, at) => at === 0 || n > numbers[at - 1]!);
  return rising && words.every(([of, by]) => of === id && by === words[0]![1]);
}

/** Erased turns have no key, and all others have one. */
function keysOf(events: RecordedEvent<any>[], { tables }: Database): string[] {
  const deleted = new Set(events.filter(({ type }) => type === "ThreadDeleted").map(({ stream }) => stream));
  const refused = new Set(events.filter(({ type }) => type === "TurnRefused").map(({ data }) => data.turn_id));
  return events
    .filter(({ type }) => type === "TurnStarted")
    .filter(
      ({ stream, data }) =>
        tables.keys.has(streamName("turn", data.turn_id)) === (deleted.has(stream) || refused.has(data.turn_id)),
    )
    .map(({ data }) => `the key of turn ${data.turn_id} should be otherwise`);
}

/** Each answered command has one event in the log, and runs again only if its turn was refused. */
function acknowledgedIn(events: RecordedEvent<any>[], acknowledged: AcknowledgedRequest[]): string[] {
  const found: string[] = [];
  const refused = new Set(events.filter(({ type }) => type === "TurnRefused").map(({ data }) => data.turn_id));
  for (const [id, answers] of Map.groupBy(acknowledged, ({ command_id }) => command_id)) {
    const effects = events.filter(({ command_id }) => command_id === id);
    const standing = effects.filter(({ data }) => !refused.has(data.turn_id));
    const name = `command ${answers[0]!.request.want} of ${parseStreamName(effects[0]?.stream ?? "-").id || "nothing"}`;
    if (standing.length > 1) found.push(`${name} has ${standing.length} effects`);
    if (standing.length === 1 && standing[0] !== effects.at(-1)) found.push(`${name} ran again although it stood`);
    for (const { answer } of answers) {
      if (answer.rejection && standing.length > 0) found.push(`${name} was rejected and is in the log`);
      if (!answer.rejection && !effects.some(({ position }) => position === answer.position))
        found.push(`${name} was answered with position ${answer.position}, which is not its own`);
    }
    const rejections = new Set(
      answers.flatMap(({ answer }) => (answer.rejection ? [JSON.stringify(answer.rejection)] : [])),
    );
    if (rejections.size > 1) found.push(`${name} was rejected in ${rejections.size} ways`);
  }
  return found;
}
