import type { NewEvent } from "#events/define.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { Rejection } from "#events/rejection.ts";
import type { RunEvent } from "#events/run.ts";
import type { AppendCheck } from "./appendPlan.ts";
import { run } from "./deciders/run.ts";
import { isEnded, type RunState } from "./deciders/runState.ts";
import { findHead, readState } from "./states.ts";

/**
 * Checks that the parent of a retry or fork still exists. If it were destroyed meanwhile, its arguments and answers would survive in
 * the new run, where an erasure of its owner would not find them (docs/adr/0091-a-continued-run-must-still-be-there.md).
 */
export async function checkParent(log: Pick<EventLog, "heads" | "read">, events: NewEvent[]): Promise<AppendCheck> {
  const [first] = events as RunEvent[];
  const parent = first?.type === "RunCreated" ? first.data.parent : undefined;
  if (!parent) return { unchanged: [] };
  const stream = streamName("run", parent.run_id);
  const head = await findHead(log, stream);
  const state: RunState = head ? (await readState(log, head, run)).state : run.initial;
  if (head && isEnded(state)) return { unchanged: [{ stream, version: head.version }] };
  return { unchanged: [], rejection: new Rejection("run_not_found", "The run to continue was destroyed meanwhile.") };
}
