import type { RecordedEvent } from "#events/envelope.ts";
import type { RunEvent } from "#events/run.ts";
import { runScope } from "#events/scope.ts";
import { encode, type Change } from "../projection.ts";

/* The names of external users, while a turn or a run of theirs exists. */

type CreatedRun = RecordedEvent<Extract<RunEvent, { type: "RunCreated" }>>;

const table = "usage_users";

export const removeUser = (id: string): Change[] => [{ table, kind: "remove", key: { id } }];

/** Names the user of the run's own turns, which have its scope. Turns of child runs have the same mark, but no name. */
export function putUserOfRun({ organization_id, data, personal }: CreatedRun): Change[] {
  const { run_id, user_mark = null } = data;
  const name = encode(personal?.external_user_id ?? null);
  if (name === null) return [];
  const row = { thread_id: null, organization_id, scope: runScope(run_id), user_mark, name };
  return [{ table, kind: "put", key: { id: run_id }, row }];
}
