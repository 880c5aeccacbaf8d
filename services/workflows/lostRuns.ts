import { currentTime } from "#events/clock.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { KeepRun, TakeRun } from "#events/run.ts";
import { run as decider } from "../deciders/run.ts";
import { isEnded, isLive, type RunState } from "../deciders/runState.ts";
import { hasWork, nextDueTime } from "../deciders/runWork.ts";
import type { LostWork } from "../leasedWork.ts";
import { readState } from "../states.ts";
import { forgetRun, type RunBelongings } from "./forgetRun.ts";
import { findEndedTurns, recordTurns } from "./endedTurns.ts";
import { settleRun, type SettleDeps } from "./settleRun.ts";

export interface LostRunsDeps extends SettleDeps {
  log: SettleDeps["log"] & Pick<EventLog, "read" | "isAlive">;
  worker: string;
  /** Undefined until the read models have passed the position. */
  belongingsOf(organization: string, run_id: string, position: number): Promise<RunBelongings | undefined>;
}

/** Destroys a run at the end of its retention, with what its steps started and saved. */
async function forgetLostRun({ belongingsOf, send }: LostRunsDeps, head: StreamHead, id: string): Promise<void> {
  const belongings = await belongingsOf(head.organization_id, id, head.position);
  if (!belongings) return;
  const { rejection } = await forgetRun(send, { organization_id: head.organization_id }, { id, ...belongings });
  if (rejection?.code === "legal_hold") await send(head, KeepRun.type, { run_id: id });
}

/** Work that only takes a moment, also in a process without room for another run. */
const shortWork = (key: string, takeOver: () => Promise<unknown>): LostWork<never> => ({
  key,
  worker: null,
  needsRoom: false,
  takeOver,
});

/** Work that a run needs and no process does: driving (its worker was lost or a timer is due), settlement, or destruction. */
export async function findLostRun(
  deps: LostRunsDeps,
  head: StreamHead,
  isHeld: (stream: string) => boolean,
): Promise<LostWork<never> | undefined> {
  const { stream } = head;
  const { state }: { state: RunState } = await readState(deps.log, head, decider);
  // A process may still hold it: its coordinator's last commit has just ended the run.
  if (isEnded(state) && state.settling) {
    const { settling } = state;
    return shortWork(`${stream}/settling`, () => settleRun(deps, head, settling));
  }
  const answers = isLive(state) ? await findEndedTurns(deps, state) : undefined;
  if (answers) return shortWork(`${stream}/turns`, () => recordTurns(deps, head, answers));
  if (isHeld(stream) || !(isLive(state) || isEnded(state))) return undefined;
  const run_id = parseStreamName(stream).id;
  const now = (deps.now ?? currentTime)();
  if (isEnded(state) && Date.parse(state.forget_at) <= now)
    return shortWork(stream, () => forgetLostRun(deps, head, run_id));

  const { worker, epoch } = state;
  // Steps of an ended run may still finish.
  const hasOpenWork = isLive(state) ? hasWork(state) : state.steps.length > 0;
  const isOwn = worker === deps.worker;
  const lost = hasOpenWork && worker !== null && (isOwn || !(await deps.log.isAlive(worker)));
  const isDue = isLive(state) && Date.parse(nextDueTime(state)) <= now;
  if (!lost && !isDue && !(hasOpenWork && worker === null)) return undefined;
  return {
    key: stream,
    worker: lost ? worker : null,
    needsRoom: true,
    // The commit of RunTaken starts the work.
    takeOver: () => deps.send(head, TakeRun.type, { run_id, epoch, worker: deps.worker, lost }),
  };
}
