import { agentCallAnswer, timedOutAnswer, type CallAnswer } from "#events/inheritedCalls.ts";
import type { RunEvent } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";

/** The coordinator's data about child runs, awaited runs and agent turns, by call key. */
export interface LinkHistory {
  children: Map<string, { child_run_id: string; workflow: string; args: StoredValue }>;
  awaited: Map<string, string>;
  agentTurns: Map<string, { agent: string; request: StoredValue; thread_id: string; turn_id: string }>;
  /** UTF-16 units of the arguments of child runs and the requests to agents. */
  inputSize: number;
}

export const newLinkHistory = (): LinkHistory => ({
  children: new Map(),
  awaited: new Map(),
  agentTurns: new Map(),
  inputSize: 0,
});

/** UTF-16 units that a value takes in memory. One in a blob is not read. */
export const sizeOfValue = (value: StoredValue): number => ("json" in value ? value.json.length : 0);

/** Folds an event about other runs. Returns the call that it answers, with the answer. */
export function foldLink(
  links: LinkHistory,
  event: RunEvent,
  readJson: (value: StoredValue) => string,
): { key: string; value: CallAnswer } | undefined {
  switch (event.type) {
    case "ChildRunRequested": {
      const { key, child_run_id } = event.data;
      const { workflow, args } = event.personal!;
      links.children.set(key, { child_run_id, workflow, args });
      links.inputSize += sizeOfValue(args);
      return undefined;
    }
    case "ChildRunStarted": {
      const { key, child_run_id } = event.data;
      return { key, value: { json: JSON.stringify({ run_id: child_run_id }) } };
    }
    case "RunWaitStarted":
      links.awaited.set(event.data.key, event.data.awaited_run_id);
      return undefined;
    case "AgentTurnRequested": {
      const { key, turn_id, thread_id } = event.data;
      links.agentTurns.set(key, { ...event.personal!, turn_id, thread_id });
      links.inputSize += sizeOfValue(event.personal!.request);
      return undefined;
    }
    case "WaitAnswered": {
      const { key } = event.data;
      const json = readJson(event.personal!.answer);
      return { key, value: links.agentTurns.has(key) ? agentCallAnswer(json) : { json } };
    }
    case "WaitTimedOut": {
      const { key } = event.data;
      return { key, value: { json: timedOutAnswer(links.awaited.get(key)) } };
    }
    default:
      return undefined;
  }
}
