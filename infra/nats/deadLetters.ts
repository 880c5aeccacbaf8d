import { randomUUID } from "node:crypto";
import { jetstream, type JsMsg, type SeqMsgRequest } from "@nats-io/jetstream";
import { Unavailable } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import type { Streams } from "./streams.ts";

const REPLAY_FOR_MS = 60_000;

/** A message that was given up. `command` is what it carried: text where it was no JSON. */
export interface DeadLetter {
  reason: string;
  error: string;
  subject: string;
  command: unknown;
}

export interface DeadLetters {
  /** The oldest first. */
  list(limit: number): Promise<(DeadLetter & { seq: number; at: Date })[]>;
  /** Publishes it again, with a minute to be handled in, and removes it. False when there is none. Throws Unavailable. */
  replay(seq: number): Promise<boolean>;
  /** False when there is none. */
  remove(seq: number): Promise<boolean>;
}

interface Context {
  connection: Connection;
  streams: Streams;
  names: Names;
}

export function createDeadLetters({ connection, streams: { jsm }, names }: Context): DeadLetters {
  const stream = names.streams.dead;
  const get = (query: SeqMsgRequest & { next_by_subj?: string }) => jsm.streams.getMessage(stream, query);
  const remove = async (seq: number) => (await get({ seq })) !== null && jsm.streams.deleteMessage(stream, seq);
  return {
    async list(limit) {
      const letters = [];
      for (let seq = 1; letters.length < limit; ) {
        const found = await get({ seq, next_by_subj: names.all.dead });
        if (!found) break;
        letters.push({ ...found.json<DeadLetter>(), seq: found.seq, at: found.time });
        seq = found.seq + 1;
      }
      return letters;
    },
    async replay(seq) {
      const letter = (await get({ seq }))?.json<DeadLetter>();
      if (!letter) return false;
      try {
        await jetstream(connection.nc).publish(letter.subject, revived(letter.command), { msgID: randomUUID() });
      } catch (cause) {
        throw new Unavailable("The dead letter cannot be published again now", { cause });
      }
      return remove(seq);
    },
    remove,
  };
}

/** Its deadline is long over. */
function revived(command: unknown): string {
  if (typeof command === "string") return command;
  const dated = command !== null && typeof command === "object" && "deadline" in command;
  return JSON.stringify(dated ? { ...command, deadline: new Date(Date.now() + REPLAY_FOR_MS).toISOString() } : command);
}

/** Keeps a message that is given up, once, however often it is tried; resolves when the stream has it. */
export async function bury(
  { connection, names }: Context,
  message: JsMsg,
  reason: string,
  error: unknown,
): Promise<void> {
  const letter: DeadLetter = {
    reason,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    subject: message.subject,
    command: parsed(message.string()),
  };
  const { stream, streamSequence, timestampNanos } = message.info;
  await jetstream(connection.nc).publish(names.dead(message.subject), JSON.stringify(letter), {
    msgID: `${stream}:${streamSequence}:${timestampNanos}`,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
