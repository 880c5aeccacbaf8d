import type { RecordedRunEvent } from "./foldSteps.ts";

/** A run that this one started, or is about to start. */
export interface ChildRunView {
  run_id: string;
  /** The id or name that `run()` gave. */
  workflow: string | null;
  on_parent_end: "cancel" | "leave";
  isStarted: boolean;
}

/** The child runs of a run, by call key. */
export type ChildRunsView = Map<string, ChildRunView>;

/** How each type of event changes the child runs. */
export function applyToChildren(
  children: ChildRunsView,
  event: RecordedRunEvent<"ChildRunRequested" | "ChildRunStarted">,
): void {
  const { key, child_run_id: run_id } = event.data;
  if (event.type === "ChildRunRequested") {
    const { on_parent_end } = event.data;
    children.set(key, { run_id, workflow: event.personal?.workflow ?? null, on_parent_end, isStarted: false });
    return;
  }
  const child = children.get(key);
  if (child) child.isStarted = true;
}
