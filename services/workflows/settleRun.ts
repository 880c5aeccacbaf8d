import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { AnswerRunWaits, SettleRun, type Watcher } from "#events/runLinks.ts";
import type { Settling } from "../deciders/runLinkState.ts";
import type { Send } from "../send.ts";
import { startNextRun } from "./continueRun.ts";
import { cancelNewestRun } from "./newestRun.ts";
import { readRunAnswer, readRunEnd, type RunAnswerDeps } from "./runAnswer.ts";
import { openValues, RunGone } from "./values.ts";

/** A start that is on its way when its run ends is in the log by then, or never: its command has a deadline of 10 s. */
const START_GRACE_MS = 60_000;

export interface SettleDeps extends RunAnswerDeps {
  log: RunAnswerDeps["log"] & Pick<EventLog, "heads" | "read">;
  send: Send;
}

async function cancelChildren(deps: SettleDeps, head: StreamHead, children: string[]): Promise<void> {
  const by = { type: "run" as const, id: parseStreamName(head.stream).id };
  for (const run_id of children)
    await cancelNewestRun(deps, run_id, { by, reason: "The run that started it has ended." });
}

/** Answers the waits of other runs for the end of this one. */
async function notifyWatchers(deps: SettleDeps, head: StreamHead, watchers: Watcher[]): Promise<void> {
  const own_id = parseStreamName(head.stream).id;
  const json = await readRunAnswer(deps, head);
  for (const { run_id, awaited_run_id } of watchers) {
    const target = { ...head, stream: streamName("run", run_id) };
    try {
      const answer = await openValues(deps, target).store(json);
      await deps.send(target, AnswerRunWaits.type, { run_id, awaited_run_id: awaited_run_id ?? own_id, answer });
    } catch (error) {
      // The watcher was destroyed.
      if (!(error instanceof RunGone)) throw error;
    }
  }
}

/** Whether a child run that was being started when the run ended may still appear. */
async function mayStillStart(deps: SettleDeps, head: StreamHead, unstarted: string[]): Promise<boolean> {
  const streams = unstarted.map((run_id) => streamName("run", run_id));
  const heads = await deps.log.heads(streams);
  if (streams.every((stream) => heads.has(stream))) return false;
  const { recorded_at } = await readRunEnd(deps, head);
  return Date.now() - recorded_at.getTime() < START_GRACE_MS;
}

/** Does what the end of a run asks for. It may be repeated, and done by two processes at once. */
export async function settleRun(deps: SettleDeps, head: StreamHead, settling: Settling): Promise<void> {
  await cancelChildren(deps, head, settling.cancel);
  if (settling.next) await startNextRun(deps, head, settling.next);
  if (settling.notify.length > 0) await notifyWatchers(deps, head, settling.notify);
  // The sweep comes again.
  if (settling.unstarted.length > 0 && (await mayStillStart(deps, head, settling.unstarted))) return;
  await deps.send(head, SettleRun.type, { run_id: parseStreamName(head.stream).id });
}
