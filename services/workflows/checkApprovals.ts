import type { EventLog } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { findPlace } from "./findPlace.ts";
import { findRefusedAssignee } from "./findRefusedAssignee.ts";
import { findRefusedAttachment } from "./attachments.ts";
import type { History } from "./history.ts";
import { newApprovals } from "./newApprovals.ts";
import type { TickCall, TickOutcome, WorkflowRunner } from "./tick.ts";

interface Needs {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  runner: Pick<WorkflowRunner, "tick">;
  keyring: Pick<Keyring, "keyedHash">;
}

/**
 * Checks the approvals of a tick against the organization's data, which the sandbox cannot see. If one is invalid, the run fails at
 * the call that asked for it. Otherwise the outcome stays as it is.
 */
export async function checkApprovals(
  { log, runner, keyring }: Needs,
  history: History,
  call: TickCall,
  outcome: TickOutcome,
): Promise<TickOutcome> {
  const calls = newApprovals(history, outcome);
  if (calls.length === 0) return outcome;
  const refused =
    (await findRefusedAttachment(log, history, calls)) ?? (await findRefusedAssignee({ log, keyring }, history, calls));
  if (!refused) return outcome;
  const place = await findPlace(runner, call, refused.key);
  const end = { type: "failed" as const, code: "run_error" as const, message: refused.message, ...place };
  return { ...outcome, end };
}
