import { currentTime } from "#events/clock.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { AnswerAgentTurn, RecordAgentTurn } from "#events/runLinks.ts";
import { thread, type ThreadState } from "../deciders/thread.ts";
import type { LiveRun } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import { readState } from "../states.ts";
import { readTurnBounds } from "../turns/turnEvents.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import { agentAnswer, nextLookTime } from "./agentTurns.ts";
import { openValues } from "./values.ts";

interface TurnsDeps extends VaultDeps {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  send: Send;
  /** The clock for comparing and recording times of the log. */
  now?(): number;
}

/** A turn that a run waits for. `answer`: JSON; undefined while it runs. */
interface SeenTurn {
  key: string;
  turn_id: string;
  answer: string | undefined;
}

/** Turns that have ended, and turns to look at again later; undefined if there are none. */
export async function findEndedTurns(
  { log, now = currentTime }: TurnsDeps,
  { waits }: LiveRun,
): Promise<SeenTurn[] | undefined> {
  const open = Object.entries(waits).flatMap(([key, { turn, look_at }]) => (turn ? [{ key, turn, look_at }] : []));
  if (open.length === 0) return undefined;
  const heads = await log.heads(open.map(({ turn }) => streamName("thread", turn.thread_id)));
  const seen: SeenTurn[] = [];
  for (const { key, turn, look_at } of open) {
    const stream = streamName("thread", turn.thread_id);
    const head = heads.get(stream);
    if (!head) continue;
    const { state }: { state: ThreadState } = await readState(log, head, thread);
    const isRunning = state.status === "open" && state.turn?.id === turn.turn_id;
    const answer = isRunning ? undefined : agentAnswer(await readTurnBounds(log, stream, turn.turn_id), turn);
    const isDue = look_at !== undefined && Date.parse(look_at) <= now();
    if (answer !== undefined || isDue) seen.push({ key, turn_id: turn.turn_id, answer });
  }
  return seen.length > 0 ? seen : undefined;
}

/** Answers the calls whose turns have ended. */
export async function recordTurns(deps: TurnsDeps, head: StreamHead, seen: SeenTurn[]): Promise<void> {
  const run_id = parseStreamName(head.stream).id;
  for (const { key, turn_id, answer } of seen)
    if (answer === undefined) await deps.send(head, RecordAgentTurn.type, { run_id, key, look_at: nextLookTime() });
    else {
      const stored = await openValues(deps, head).store(answer);
      await deps.send(head, AnswerAgentTurn.type, { run_id, turn_id, answer: stored });
    }
}
