import type { EventLog } from "#events/ports.ts";
import { findRefusedAssignee } from "./findRefusedAssignee.ts";
import { findRefusedAttachment } from "./attachments.ts";
import type { History } from "./history.ts";
import { newApprovals } from "./newApprovals.ts";
import type { TickCall, TickOutcome, WorkflowRunner } from "./tick.ts";

interface Needs {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  runner: Pick<WorkflowRunner, "tick">;
}

/**
 * A tick that asks for an approval whose options no sandbox can check, because they name what the organization has, fails the run
 * where it asks. Otherwise the outcome as it is.
 */
export async function checkApprovals(
  { log, runner }: Needs,
  history: History,
  call: TickCall,
  outcome: TickOutcome,
): Promise<TickOutcome> {
  const calls = newApprovals(history, outcome);
  if (calls.length === 0) return outcome;
  const refused =
    (await findRefusedAttachment(log, history, calls)) ??
    (await findRefusedAssignee(log, history.organization_id, calls));
  if (!refused) return outcome;
  // only a tick that traces its calls knows their places, and takes longer
  const traced = await runner.tick({ ...call, trace: true });
  const { line = null, column = null } = traced.calls?.find(({ key }) => key === refused.key) ?? {};
  const end = { type: "failed" as const, code: "run_error" as const, message: refused.message, line, column };
  return { ...outcome, end };
}
