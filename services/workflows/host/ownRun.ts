import type { EventFrom } from "#events/define.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { RunCreated } from "#events/run.ts";
import { runOfScope, runScope } from "#events/scope.ts";

export type CreatedRun = EventFrom<typeof RunCreated>["data"];

/** How a run was created; undefined if it is not in the log or belongs to another organization. */
export async function readCreatedRun(
  log: Pick<EventLog, "readNewest">,
  organization_id: string,
  run_id: string,
): Promise<CreatedRun | undefined> {
  const query = { before: 2, types: [RunCreated.type], limit: 1, bytes: 1 };
  const [created] = await log.readNewest(streamName("run", run_id), query);
  return created?.organization_id === organization_id ? (created.data as CreatedRun) : undefined;
}

const firstRun = ({ run_id, parent }: Pick<CreatedRun, "run_id" | "parent">): string =>
  parent?.seen_as.run_id ?? run_id;

/** Whether something with this scope belongs to the run, or to a run whose answers it inherits as a retry or fork. */
export async function isOfOwnRuns(
  log: Pick<EventLog, "readNewest">,
  organization_id: string,
  run: Pick<CreatedRun, "run_id" | "parent">,
  scope: string,
): Promise<boolean> {
  if (scope === runScope(run.run_id)) return true;
  const owner = runOfScope(scope);
  if (!run.parent || owner === null) return false;
  const created = await readCreatedRun(log, organization_id, owner);
  return firstRun(created ?? { run_id: owner }) === firstRun(run);
}
