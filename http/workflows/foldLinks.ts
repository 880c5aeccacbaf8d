import type { RecordedRunEvent, RunEventType } from "./foldSteps.ts";

/** A run that this one started, or is about to start. */
export interface ChildRunView {
  run_id: string;
  /** The id or name that `run()` gave. */
  workflow: string | null;
  on_parent_end: "cancel" | "leave";
  requested_at: Date;
  isStarted: boolean;
}

/** The child runs of a run, and the runs and messages that it awaits, by call key. */
export interface LinksView {
  children: Map<string, ChildRunView>;
  runWaits: Map<string, { run_id: string; since: Date; until: Date | null }>;
  messageWaits: Map<string, { name: string | null; since: Date; until: Date | null }>;
}

export const newLinks = (): LinksView => ({ children: new Map(), runWaits: new Map(), messageWaits: new Map() });

/** How each type of event changes the links. */
export function applyToLinks(links: LinksView, event: RecordedRunEvent<RunEventType>): void {
  switch (event.type) {
    case "ChildRunRequested": {
      const { key, child_run_id: run_id, on_parent_end } = event.data;
      const workflow = event.personal?.workflow ?? null;
      const child = { run_id, workflow, on_parent_end, requested_at: event.recorded_at, isStarted: false };
      links.children.set(key, child);
      return;
    }
    case "ChildRunStarted": {
      const child = links.children.get(event.data.key);
      if (child) child.isStarted = true;
      return;
    }
    case "RunWaitStarted": {
      const { key, awaited_run_id: run_id, expires_at } = event.data;
      const until = expires_at === null ? null : new Date(expires_at);
      links.runWaits.set(key, { run_id, since: event.recorded_at, until });
      return;
    }
    case "MessageWaitStarted": {
      const { key, expires_at } = event.data;
      const until = expires_at === null ? null : new Date(expires_at);
      links.messageWaits.set(key, { name: event.personal?.name ?? null, since: event.recorded_at, until });
      return;
    }
    case "WaitAnswered":
    case "WaitTimedOut":
      links.runWaits.delete(event.data.key);
      links.messageWaits.delete(event.data.key);
      return;
    default:
  }
}
