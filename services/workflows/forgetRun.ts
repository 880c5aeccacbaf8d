import { DeleteFile } from "#events/file.ts";
import type { CommandResult } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { ForgetRun } from "#events/run.ts";
import { runScope } from "#events/scope.ts";
import { DeleteThread } from "#events/thread.ts";
import type { Send, CommandTarget } from "../send.ts";

/** Ids of what the steps of a run started and saved. */
export interface RunBelongings {
  threads: string[];
  files: string[];
}

/** The organization of a run, and the work that its destruction is part of. */
type Part = Omit<CommandTarget, "stream">;

/**
 * Destroys an ended run. Deletes its threads and files first: if the process dies in between, the run still leads to them. If a
 * hold covers one of them, the run stays.
 */
export async function forgetRun(
  send: Send,
  { organization_id, request_id }: Part,
  { id: run_id, threads, files }: RunBelongings & { id: string },
  why: { by_rule?: true } = {},
): Promise<CommandResult> {
  const scope = runScope(run_id);
  const to = (stream: string): CommandTarget => ({
    organization_id,
    stream,
    ...(request_id !== undefined && { request_id }),
  });
  const deletions = [
    ...threads.map((id) => () => send(to(streamName("thread", id)), DeleteThread.type, { scope })),
    ...files.map((id) => () => send(to(streamName("file", id)), DeleteFile.type, { file_id: id, scope })),
  ];
  for (const remove of deletions) {
    const result = await remove();
    if (result.rejection?.code === "legal_hold") return result;
  }
  return send(to(streamName("run", run_id)), ForgetRun.type, { run_id, ...why });
}
