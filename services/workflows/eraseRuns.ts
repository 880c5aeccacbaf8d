import type { CommandResult } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { CancelRun } from "#events/run.ts";
import type { Actor } from "#events/runOrigin.ts";
import { run as decider } from "../deciders/run.ts";
import { isEnded, type RunState } from "../deciders/runState.ts";
import type { Send, CommandTarget } from "../send.ts";
import { readState } from "../states.ts";
import { forgetRun, type RunBelongings } from "./forgetRun.ts";

export interface EraseRunsDeps {
  log: Pick<EventLog, "heads" | "read">;
  /** Undefined until the read models have passed the position. */
  belongingsOf(organization: string, run_id: string, position: number): Promise<RunBelongings | undefined>;
  send: Send;
}

const REASON = "Everything that its owner has is erased.";

interface RunErasure {
  results: CommandResult[];
  /** Whether some runs could not be erased yet. */
  waits: boolean;
  /** The newest log position of the ended runs. Read models past it list everything that these runs created. */
  newest: number;
}

/** Whether the run can create nothing more: its watchers are notified, and its last steps have ended. */
const isOver = (state: RunState): boolean => isEnded(state) && state.settling === null && state.steps.length === 0;

/** Cancels live runs, and destroys ended ones with everything their steps started and saved, as listed at a position. */
export async function eraseRuns(
  { log, belongingsOf, send }: EraseRunsDeps,
  part: Omit<CommandTarget, "stream">,
  { live, ended, position }: { live: string[]; ended: string[]; position: number },
  by: Actor,
): Promise<RunErasure> {
  const cancel = (run_id: string) =>
    send({ ...part, stream: streamName("run", run_id) }, CancelRun.type, { run_id, by, reason: REASON });
  const heads = await log.heads(ended.map((id) => streamName("run", id)));
  const forget = async (id: string): Promise<CommandResult | undefined> => {
    const head = heads.get(streamName("run", id));
    if (!head || head.position > position) return undefined;
    const { state }: { state: RunState } = await readState(log, head, decider);
    if (!isOver(state)) return undefined;
    const belongings = await belongingsOf(part.organization_id, id, head.position);
    return belongings && forgetRun(send, part, { id, ...belongings }, { by_rule: true });
  };
  const cancelled = await Promise.all(live.map(cancel));
  const forgotten = await Promise.all(ended.map(forget));
  return {
    results: [...cancelled, ...forgotten.filter((result) => result !== undefined)],
    waits: forgotten.includes(undefined),
    newest: heads.values().reduce((most, head) => Math.max(most, head.position), 0),
  };
}
