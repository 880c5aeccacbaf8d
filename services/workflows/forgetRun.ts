import type { CommandResult } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { ForgetRun } from "#events/run.ts";
import { runScope } from "#events/scope.ts";
import { DeleteThread } from "#events/thread.ts";
import type { Send } from "../send.ts";

/** Destroys an ended run. Its threads go first: after a kill the run is still there to find them. */
export async function forgetRun(
  send: Send,
  organization_id: string,
  { id: run_id, threads }: { id: string; threads: string[] },
  why: { by_rule?: true } = {},
): Promise<CommandResult> {
  const scope = runScope(run_id);
  const to = (stream: string) => ({ organization_id, stream });
  for (const id of threads) await send(to(streamName("thread", id)), DeleteThread.type, { scope });
  return send(to(streamName("run", run_id)), ForgetRun.type, { run_id, ...why });
}
