import { timedOutAnswer } from "#events/inheritedCalls.ts";
import type { RunEvent } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";

/** What a run's coordinator knows of the child runs and the awaited runs, by call key. */
export interface LinkHistory {
  children: Map<string, { child_run_id: string; workflow: string; args: StoredValue }>;
  awaited: Map<string, string>;
}

export const newLinkHistory = (): LinkHistory => ({ children: new Map(), awaited: new Map() });

/** Folds an event about other runs in. The call that it answers, and JSON of the answer. */
export function foldLink(
  links: LinkHistory,
  event: RunEvent,
  readJson: (value: StoredValue) => string,
): { key: string; json: string } | undefined {
  switch (event.type) {
    case "ChildRunRequested": {
      const { key, child_run_id } = event.data;
      const { workflow, args } = event.personal!;
      links.children.set(key, { child_run_id, workflow, args });
      return undefined;
    }
    case "ChildRunStarted": {
      const { key, child_run_id } = event.data;
      return { key, json: JSON.stringify({ run_id: child_run_id }) };
    }
    case "RunWaitStarted":
      links.awaited.set(event.data.key, event.data.awaited_run_id);
      return undefined;
    case "WaitAnswered":
      return { key: event.data.key, json: readJson(event.personal!.answer) };
    case "WaitTimedOut": {
      const { key } = event.data;
      return { key, json: timedOutAnswer(links.awaited.get(key)) };
    }
    default:
      return undefined;
  }
}
