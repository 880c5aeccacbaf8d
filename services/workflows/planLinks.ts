import { agentTurnIds, childRunId } from "#events/runLinks.ts";
import type { StoredValue, TickResult } from "#events/runParts.ts";
import type { LiveRun } from "../deciders/runState.ts";
import type { PendingCall } from "./tick.ts";

interface PlanContext {
  run_id: string;
  /** Undefined before the first event. */
  live: LiveRun | undefined;
  now: number;
  store(json: string): Promise<StoredValue>;
}

/** When a wait times out. */
const expiry = (now: number, timeout_ms: number | null): string | null =>
  timeout_ms === null ? null : new Date(now + timeout_ms).toISOString();

type Plan = Pick<TickResult, "children" | "runWaits" | "messageWaits" | "agentTurns">;

/** The new child runs, agent turns, and waits for runs and messages that a tick asks for. */
export async function planLinks(
  calls: readonly PendingCall[],
  { run_id, live, now, store }: PlanContext,
): Promise<Plan> {
  const requested = new Set(live?.children.map(({ key }) => key));
  const plan: Plan = { children: [], runWaits: [], messageWaits: [], agentTurns: [] };
  for (const call of calls)
    if (call.kind === "child" && !requested.has(call.key)) {
      const { key, workflow, on_parent_end } = call;
      const child_run_id = childRunId(run_id, key);
      plan.children.push({ key, child_run_id, workflow, args: await store(call.args), on_parent_end });
    } else if (call.kind === "runWait" && !live?.waits[call.key])
      plan.runWaits.push({ key: call.key, awaited_run_id: call.run_id, expires_at: expiry(now, call.timeout_ms) });
    else if (call.kind === "messageWait" && !live?.waits[call.key]) {
      const { key, name, match, timeout_ms } = call;
      plan.messageWaits.push({ key, name, match, expires_at: expiry(now, timeout_ms) });
    } else if (call.kind === "agent" && !live?.waits[call.key]) {
      const { key, agent, request, thread_id } = call;
      const ids = agentTurnIds(run_id, key);
      const turn = { ...ids, thread_id: thread_id ?? ids.thread_id };
      plan.agentTurns.push({ key, ...turn, agent, request: await store(request) });
    }
  return plan;
}
