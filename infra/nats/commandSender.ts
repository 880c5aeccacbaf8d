import { currentTime } from "#events/clock.ts";
import type { CommandResult, Command } from "#events/envelope.ts";
import { type CommandSender, type EventLog, type CommandOutcome, Unavailable } from "#events/ports.ts";
import type { Acks } from "./acks.ts";
import type { Answers } from "./answers.ts";
import { commandWaits, nextPoll } from "./commandWaits.ts";
import type { BusContext } from "./context.ts";
import { createPublication, type Publication } from "./publication.ts";
import { isClaimed, isUntaken, withdrawCommand } from "./untaken.ts";
import { withTimeout } from "./withTimeout.ts";

const MAX_COMMAND_BYTES = 256 * 1024;
const OUTCOME_MS = 1_000;
/** How long a command waits for a bus without any server. An election, during which one answers, may take longer. */
const AWAY_MS = 3_000;

type PendingAnswer = Pick<PromiseWithResolvers<CommandResult>, "resolve" | "reject">;
export type Outcomes = Pick<EventLog, "outcome">;
/**
 * Whether the database answers any query of this process. On a busy machine, a single read may wait long, for example for a new
 * connection, although the log accepts events. Without this check, such a read would count as an outage of the log.
 */
export type IsReachable = () => boolean;
interface SenderContext extends BusContext {
  acks: Acks;
  answers: Answers;
  outcomes: Outcomes;
  isReachable: IsReachable | undefined;
}

export function createSender(context: SenderContext): CommandSender {
  return {
    /** Throws a plain Error for a command over 256 KiB: larger content belongs in a blob. */
    async send(command) {
      const payload = Buffer.from(JSON.stringify(command));
      if (payload.length > MAX_COMMAND_BYTES) throw new Error(`${command.type} has ${payload.length} bytes encoded`);
      if (context.connection.nc.isClosed()) throw new Unavailable("The connection to the bus is closed");
      return sendEncoded(context, command, payload);
    },
  };
}

async function sendEncoded(context: SenderContext, command: Command, payload: Uint8Array): Promise<CommandResult> {
  const { names } = context;
  const answer = Promise.withResolvers<CommandResult>();
  const onRefused = async (reason: string) => {
    // An earlier publication may have been stored.
    const found = publication.count() > 1 ? await readOutcome(context, command, OUTCOME_MS) : undefined;
    if (found?.outcome) answer.resolve(found.outcome);
    else answer.reject(new Unavailable(`The command stream is unavailable: ${reason}`));
  };
  const publication = createPublication(context, {
    subject: names.command(command),
    payload,
    traceparent: command.traceparent,
    onAnswer: answer.resolve,
    onRefused: (reason) => void onRefused(reason),
  });
  const stopPolling = pollOutcome(context, command, publication, answer);
  try {
    publication.publish();
    return await answer.promise;
  } finally {
    stopPolling();
    publication.close();
  }
}

/** Polls the outcome until the deadline: an answer can be lost, its outcome row cannot. */
function pollOutcome(
  context: SenderContext,
  command: Command,
  publication: Publication,
  answer: PendingAnswer,
): () => void {
  const began = performance.now();
  const waits = commandWaits(command.waited_ms);
  // a duration, because this process's clock may jump meanwhile
  const patience = Date.parse(command.deadline) - currentTime();
  // timers may end a millisecond early
  const waitedMs = () => Math.ceil(performance.now() - began) + 1;
  const left = () => patience - waitedMs();
  let isStopped = false;
  let timer = setTimeout(() => void poll(), Math.max(0, Math.min(waits.firstPoll, left())));
  let due: NodeJS.Timeout | undefined;
  /** The looks of `poll` may take seconds. Without a claim by now, no worker has the command. */
  const refuse = () => {
    if (isStopped || isClaimed(publication)) return;
    answer.reject(noWorker());
    withdrawCommand(context, publication).catch(() => {});
  };
  const poll = async () => {
    // an answer that arrived while the event loop was busy counts
    due ??= setTimeout(() => setImmediate(refuse), Math.max(0, waits.due - waitedMs()));
    // one more, because waitedMs counts a millisecond too many
    const untilAway = waits.logAway + 1 - waitedMs();
    const { outcome, isAway } = await readOutcome(context, command, Math.max(OUTCOME_MS, untilAway));
    if (isStopped) return;
    if (outcome) return answer.resolve(outcome);
    const waited = waitedMs();
    if (left() <= 0) return answer.reject(new Unavailable("No answer by the deadline: the outcome is unknown"));
    if (context.connection.lostFor() > AWAY_MS)
      return answer.reject(new Unavailable("The bus is away: the outcome is unknown"));
    if (isAway && waited >= waits.logAway && !context.isReachable?.())
      return answer.reject(new Unavailable("The log cannot be read: the outcome is unknown"));
    if (waited >= waits.untaken && (await isUntaken(context, publication, waited >= waits.unclaimed)))
      return giveUp(context, command, publication, answer);
    if (isStopped) return;
    publication.publishIfLost();
    void context.streams.heal();
    timer = setTimeout(() => void poll(), Math.min(nextPoll(waits, waitedMs()), left()));
  };
  return () => {
    isStopped = true;
    clearTimeout(timer);
    clearTimeout(due);
  };
}

/**
 * Gives a command up. After `withdrawCommand` no worker begins it. A worker may have begun and ended it before, without reporting
 * that, so a stored outcome counts.
 */
async function giveUp(
  context: SenderContext,
  command: Command,
  publication: Publication,
  answer: PendingAnswer,
): Promise<void> {
  await withdrawCommand(context, publication);
  void context.streams.heal();
  const { outcome } = await readOutcome(context, command, OUTCOME_MS);
  if (outcome) answer.resolve(outcome);
  else answer.reject(noWorker());
}

const noWorker = () => new Unavailable("No worker takes commands at the moment; try again shortly.");

/**
 * Reads the stored outcome of a command. Absent if there is none, if the read fails or takes too long, or if it belongs to another
 * request with the same id. `isAway`: the log did not answer.
 */
async function readOutcome(
  { connection, outcomes }: SenderContext,
  command: Command,
  timeout_ms: number,
): Promise<{ outcome?: CommandResult; isAway: boolean }> {
  try {
    const read = outcomes.outcome(command.id, command.organization_id).then((found) => ({ found }));
    const answered = await withTimeout(read, timeout_ms);
    if (!answered) return { isAway: true };
    const { found } = answered;
    const isOwn = found?.fingerprint === (command.fingerprint ?? null);
    return { ...(found && isOwn && { outcome: toResult(found) }), isAway: false };
  } catch (err) {
    connection.log.warn({ err, command: command.id }, "bus: command outcome not read");
    return { isAway: err instanceof Unavailable };
  }
}

const toResult = ({ position, rejection }: CommandOutcome): CommandResult => ({
  position,
  repeated: true,
  ...(rejection ? { rejection } : {}),
});
