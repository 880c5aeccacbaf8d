import { streamName } from "#events/ids.ts";
import type { EventLog, Frames, StreamHead } from "#events/ports.ts";
import { waitForStop } from "#events/stopGrace.ts";
import { thread, type ThreadState } from "../deciders/thread.ts";
import { readState } from "../states.ts";

/** Stops the running turns of threads that are about to be deleted. A turn that waits for people has no worker to stop. */
export async function stopTurns(
  { log, frames }: { log: Pick<EventLog, "heads" | "read">; frames: Pick<Frames, "requestStop"> },
  organization: string,
  threads: { id: string }[],
): Promise<void> {
  const findRunning = async (streams: string[]): Promise<StreamHead[]> =>
    streams.length === 0 ? [] : [...(await log.heads(streams)).values()].filter(({ status }) => status === "running");
  let running = await findRunning(threads.map(({ id }) => streamName("thread", id)));
  for (const head of running) {
    const { state }: { state: ThreadState } = await readState(log, head, thread);
    if (state.status === "open" && state.turn) frames.requestStop(organization, state.turn.id, "deleted");
  }
  if (running.length > 0)
    await waitForStop(async () => {
      running = await findRunning(running.map(({ stream }) => stream));
      return running.length === 0;
    });
}
