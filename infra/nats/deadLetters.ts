import { randomUUID } from "node:crypto";
import { jetstream, type JsMsg, type SeqMsgRequest } from "@nats-io/jetstream";
import { currentTime } from "#events/clock.ts";
import { parseJsonOrText } from "#events/json.ts";
import { Unavailable } from "#events/ports.ts";
import type { BusContext } from "./context.ts";

const REPLAY_DEADLINE_MS = 60_000;

/** A message that could not be handled. `command`: its content as parsed JSON, or as text if it is not JSON. */
export interface DeadLetter {
  reason: string;
  error: string;
  subject: string;
  command: unknown;
}

/** With `organization`, letters of others count as missing. All methods throw Unavailable while JetStream does not answer. */
export interface DeadLetters {
  /** Oldest first. */
  list(limit: number, organization?: string): Promise<(DeadLetter & { seq: number; at: Date })[]>;
  /** Publishes it again with a deadline in one minute, and removes it. False if there is none. */
  replay(seq: number, organization?: string): Promise<boolean>;
  /** False when there is none. */
  remove(seq: number, organization?: string): Promise<boolean>;
}

export function createDeadLetters({ connection, streams: { jsm }, names }: BusContext): DeadLetters {
  const stream = names.streams.dead;
  const ask = <T>(request: Promise<T>, what: string): Promise<T> =>
    connection.during(request).catch((cause: unknown) => {
      throw new Unavailable(`The dead letter cannot be ${what} now`, { cause });
    });
  const get = (query: SeqMsgRequest & { next_by_subj?: string }) => ask(jsm.streams.getMessage(stream, query), "read");
  const subjectOf = (organization?: string) =>
    organization === undefined ? names.all.dead : names.deadOf(organization);
  /** The letter with exactly this number. */
  const find = async (seq: number, organization?: string) => {
    const found = await get({ seq, next_by_subj: subjectOf(organization) });
    return found?.seq === seq ? found : null;
  };
  const remove = async (seq: number, organization?: string) =>
    (await find(seq, organization)) !== null && ask(jsm.streams.deleteMessage(stream, seq), "removed");
  return {
    async list(limit, organization) {
      const letters = [];
      for (let seq = 1; letters.length < limit; ) {
        const found = await get({ seq, next_by_subj: subjectOf(organization) });
        if (!found) break;
        letters.push({ ...found.json<DeadLetter>(), seq: found.seq, at: found.time });
        seq = found.seq + 1;
      }
      return letters;
    },
    async replay(seq, organization) {
      const letter = (await find(seq, organization))?.json<DeadLetter>();
      if (!letter) return false;
      const payload = withNewDeadline(letter.command);
      await ask(jetstream(connection.nc).publish(letter.subject, payload, { msgID: randomUUID() }), "replayed");
      return remove(seq, organization);
    },
    remove,
  };
}

/** Removes the waiting process, because the handler would otherwise give the command up when that process is gone. */
function withNewDeadline(command: unknown): string {
  if (typeof command === "string") return command;
  const hasDeadline = command !== null && typeof command === "object" && "deadline" in command;
  const deadline = new Date(currentTime() + REPLAY_DEADLINE_MS).toISOString();
  return JSON.stringify(hasDeadline ? { ...command, deadline, http: undefined } : command);
}

/** Stores a message in the stream of dead letters. Idempotent for each message. */
export async function storeDeadLetter(
  { connection, names }: BusContext,
  message: JsMsg,
  reason: string,
  error: unknown,
): Promise<void> {
  const letter: DeadLetter = {
    reason,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    subject: message.subject,
    command: parseJsonOrText(message.string()),
  };
  const { stream, streamSequence, timestampNanos } = message.info;
  await jetstream(connection.nc).publish(names.dead(message.subject), JSON.stringify(letter), {
    msgID: `${stream}:${streamSequence}:${timestampNanos}`,
  });
}
