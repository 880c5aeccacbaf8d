import type { EventLog, StreamHead } from "#events/ports.ts";
import { RunCancelled, RunCompleted, RunContinued, RunFailed, type RunEvent } from "#events/run.ts";
import { parseStreamName } from "#events/ids.ts";
import type { CommandTarget } from "../send.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import { openValues, RunGone } from "./values.ts";

export interface RunAnswerDeps extends VaultDeps {
  log: Pick<EventLog, "event" | "readNewest">;
}

const ENDS: string[] = [RunCompleted.type, RunFailed.type, RunCancelled.type, RunContinued.type];

/**
 * The event that ended a run: nearly always its last one, or the one before `RunSettled`. Concurrent reads share a query. Throws
 * RunGone.
 */
export async function readRunEnd({ log }: Pick<RunAnswerDeps, "log">, { stream, version }: StreamHead) {
  const newest = await Promise.all([version, version - 1].map((each) => log.event(stream, each)));
  const end =
    newest.find((event) => event && ENDS.includes(event.type)) ??
    (await log.readNewest(stream, { before: version, types: ENDS, limit: 1, bytes: 1 }))[0];
  if (!end?.personal) throw new RunGone(`${stream} was destroyed`);
  return end;
}

/** JSON of what `waitForRun` returns for a run that has ended. Throws RunGone. */
export const readRunAnswer = async (deps: RunAnswerDeps, head: StreamHead): Promise<string> =>
  describeEnd(deps, head, (await readRunEnd(deps, head)) as unknown as RunEvent);

/** The same for a run whose last event is known. */
export async function describeEnd(
  deps: VaultDeps,
  target: CommandTarget,
  { type, personal }: RunEvent,
): Promise<string> {
  const run_id = parseStreamName(target.stream).id;
  if (type === "RunCompleted") {
    const result = await openValues(deps, target).json(personal!.result);
    return `{"run_id":"${run_id}","status":"completed","result":${result},"error":null}`;
  }
  const [status, error] =
    type === "RunFailed" ? ["failed", personal!.error.message] : ["cancelled", "The run was cancelled."];
  return JSON.stringify({ run_id, status, result: null, error });
}
