import { streamName } from "#events/ids.ts";
import type { Http } from "../base/deps.ts";
import type { RecordedRunEvent, RunEventType, StepEventType } from "./foldSteps.ts";

const ATTEMPT_ENDS = new Set<RunEventType>(["StepCompleted", "StepAttemptFailed", "StepAttemptLost", "StepFailed"]);

/**
 * Reads how a cancelled run ended. Keeps only the running steps, because a run may have a hundred megabytes of events, and a
 * cancellation has no budget: it must not be refused once it is recorded.
 */
export async function readCancellation({ streamPages }: Pick<Http, "streamPages">, run_id: string) {
  const running = new Set<string>();
  let cancelled: RecordedRunEvent<"RunCancelled"> | undefined;
  for await (const { events } of streamPages(streamName("run", run_id)))
    for (const event of events as readonly RecordedRunEvent[]) {
      if (event.type === "StepStarted") running.add(event.data.key);
      else if (event.type === "RunCancelled") cancelled = event;
      else if (ATTEMPT_ENDS.has(event.type)) running.delete((event as RecordedRunEvent<StepEventType>).data.key);
    }
  const { recorded_at, data, personal } = cancelled!;
  return {
    cancelled_at: recorded_at.toISOString(),
    cancelled_by: data.by,
    cancel_reason: personal?.reason ?? null,
    steps_still_running: running.size,
  };
}
