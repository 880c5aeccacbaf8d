import { timedOutAnswer, type AgentAnswer, type InheritedCall } from "#events/inheritedCalls.ts";
import type { StoredValue } from "#events/runParts.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";

/** The calls that a fold of answered calls changes. */
interface CallChanges {
  add(kind: InheritedCall["kind"], key: string, more?: { endsRun: boolean }): void;
  change(key: string, part: { answer?: StoredValue; ofTurn?: boolean; endsRun?: boolean; answered_at?: string }): void;
}

/** Whether `waitForRun` was answered by a completed run. Only such answers are long. */
const isCompleted = (answer: StoredValue): boolean =>
  "blob" in answer || (JSON.parse(answer.json) as { status: string }).status === "completed";

/** Only answers of completed turns are long, so parsing others is cheap. */
const hasFailed = (answer: StoredValue): boolean => "json" in answer && !(JSON.parse(answer.json) as AgentAnswer).ok;

/**
 * Folds child runs, turns of agents, and waits for runs. A child run is inherited only if it completed: others failed or were
 * cancelled with their parent, so the continuing run starts them again. For the same reason it repeats failed turns.
 */
export function createLinkedCallFold({ add, change }: CallChanges) {
  const starts = new Map<string, string>();
  const awaited = new Map<string, string>();
  const turns = new Set<string>();
  return (event: RecordedRunEvent, answered_at: string): void => {
    switch (event.type) {
      case "ChildRunRequested": {
        const { key, child_run_id, on_parent_end } = event.data;
        starts.set(child_run_id, key);
        return add("child", key, { endsRun: on_parent_end === "cancel" });
      }
      case "ChildRunStarted": {
        const { key, child_run_id: run_id } = event.data;
        return change(key, { answer: { json: JSON.stringify({ run_id }) }, answered_at });
      }
      case "RunWaitStarted":
        awaited.set(event.data.key, event.data.awaited_run_id);
        return add("runWait", event.data.key);
      case "MessageWaitStarted":
        return add("messageWait", event.data.key);
      case "AgentTurnRequested":
        turns.add(event.data.key);
        return add("agent", event.data.key);
      case "WaitAnswered": {
        if (!event.personal) return;
        const { key } = event.data;
        const { answer } = event.personal;
        if (turns.has(key)) return change(key, { answer, ofTurn: true, endsRun: hasFailed(answer), answered_at });
        const start = starts.get(awaited.get(key) ?? "");
        const endsRun = start !== undefined && !isCompleted(answer);
        if (start !== undefined) change(start, { endsRun });
        return change(key, { answer, endsRun, answered_at });
      }
      case "WaitTimedOut": {
        const { key } = event.data;
        return change(key, { answer: { json: timedOutAnswer(awaited.get(key)) }, answered_at });
      }
      default:
    }
  };
}
