import type { Answer, Command } from "#events/envelope.ts";
import { type CommandSender, type EventLog, type Outcome, Unavailable } from "#events/ports.ts";
import type { Acks } from "./acks.ts";
import type { Answers } from "./answers.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import { publicationOf, type Publication } from "./publication.ts";
import type { Streams } from "./streams.ts";

const MAX_COMMAND_BYTES = 256 * 1024;
const FIRST_LOOK_MS = 1500;
const NEXT_LOOK_MS = 1000;

export type Outcomes = Pick<EventLog, "outcome">;
interface Context {
  connection: Connection;
  streams: Streams;
  names: Names;
  acks: Acks;
  answers: Answers;
  outcomes: Outcomes;
}

export function createSender(context: Context): CommandSender {
  return {
    /** Throws a plain Error for a command over 256 KiB: what is larger belongs into a blob. */
    async send(command) {
      const payload = Buffer.from(JSON.stringify(command));
      if (payload.length > MAX_COMMAND_BYTES) throw new Error(`${command.type} has ${payload.length} bytes encoded`);
      if (context.connection.nc.isClosed()) throw new Unavailable("The connection to the bus is closed");
      return sendEncoded(context, command, payload);
    },
  };
}

async function sendEncoded(context: Context, command: Command, payload: Uint8Array): Promise<Answer> {
  const { names } = context;
  const answer = Promise.withResolvers<Answer>();
  const refused = async (reason: string) => {
    // An earlier publication of it may have been stored.
    const outcome = publication.count() > 1 ? await readOutcome(context, command, NEXT_LOOK_MS) : undefined;
    if (outcome) answer.resolve(outcome);
    else answer.reject(new Unavailable(`The command stream takes nothing now: ${reason}`));
  };
  const publication = publicationOf(context, {
    subject: names.command(command),
    payload,
    traceparent: command.traceparent,
    answered: answer.resolve,
    refused: (reason) => void refused(reason),
  });
  const stopLooking = lookForOutcome(context, command, publication, answer);
  try {
    publication.publish();
    return await answer.promise;
  } finally {
    stopLooking();
    publication.forget();
  }
}

/** Reads the outcome after a silence, and then every second until the deadline: an answer may be lost, its row never. */
function lookForOutcome(
  context: Context,
  command: Command,
  publication: Publication,
  answer: { resolve(answer: Answer): void; reject(error: Error): void },
): () => void {
  const left = () => Date.parse(command.deadline) - Date.now();
  let stopped = false;
  let timer = setTimeout(() => void look(), Math.max(0, Math.min(FIRST_LOOK_MS, left())));
  const look = async () => {
    const outcome = await readOutcome(context, command, Math.max(NEXT_LOOK_MS, left()));
    if (stopped) return;
    if (outcome) return answer.resolve(outcome);
    if (left() <= 0) return answer.reject(new Unavailable("No answer by the deadline: the outcome is unknown"));
    publication.publishIfLost();
    timer = setTimeout(() => void look(), Math.min(NEXT_LOOK_MS, left()));
  };
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Undefined when there is none, when it cannot be read in time, or when another request left it under the same id. */
async function readOutcome(
  { connection, outcomes }: Context,
  command: Command,
  within: number,
): Promise<Answer | undefined> {
  try {
    const outcome = await inTime(outcomes.outcome(command.id, command.organization_id), within);
    return outcome && outcome.fingerprint === (command.fingerprint ?? null) ? asAnswer(outcome) : undefined;
  } catch (err) {
    connection.log.warn({ err, command: command.id }, "bus: an outcome could not be read");
    return undefined;
  }
}

const asAnswer = ({ position, rejection }: Outcome): Answer => ({
  position,
  repeated: true,
  ...(rejection ? { rejection } : {}),
});

async function inTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
