import { parseStreamName } from "#events/ids.ts";
import { runOfScope } from "#events/scope.ts";
import type { Prompt } from "#events/thread.ts";
import type { ToolContext } from "./tools/tool.ts";
import type { TurnToRun } from "./turnToRun.ts";

/** What the tools of a turn know about it. */
export const toolContext = (
  { organization_id, turn_id, thread, scope, awaited_by, principal }: TurnToRun,
  { user, vars, knowledge }: Prompt,
  signal: AbortSignal,
): ToolContext => ({
  organization_id,
  turn_id,
  thread_id: parseStreamName(thread).id,
  principal,
  user,
  vars,
  collections: knowledge?.collections ?? null,
  run_id: awaited_by ?? runOfScope(scope),
  signal,
});
