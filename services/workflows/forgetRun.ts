import { DeleteFile } from "#events/file.ts";
import type { CommandResult } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { ForgetRun } from "#events/run.ts";
import { runScope } from "#events/scope.ts";
import { DeleteThread } from "#events/thread.ts";
import type { Send } from "../send.ts";

/** What steps of a run have started and saved (ids). */
export interface RunBelongings {
  threads: string[];
  files: string[];
}

/** Destroys an ended run. Its threads and files go first: after a kill the run is still there to find them. */
export async function forgetRun(
  send: Send,
  organization_id: string,
  { id: run_id, threads, files }: RunBelongings & { id: string },
  why: { by_rule?: true } = {},
): Promise<CommandResult> {
  const scope = runScope(run_id);
  const to = (stream: string) => ({ organization_id, stream });
  for (const id of threads) await send(to(streamName("thread", id)), DeleteThread.type, { scope });
  for (const id of files) await send(to(streamName("file", id)), DeleteFile.type, { file_id: id, scope });
  return send(to(streamName("run", run_id)), ForgetRun.type, { run_id, ...why });
}
