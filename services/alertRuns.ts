import { splitSubject, type BudgetAlert, type BudgetStep } from "#events/budget.ts";
import { deriveCommandId, deriveId } from "#events/ids.ts";
import type { PublicEvent } from "#events/ports.ts";
import type { Refusal } from "#events/runLinks.ts";
import { findWorkflow, startWorkflowRun, type StartDeps } from "./workflows/startRun.ts";

/* Starts the runs that alert people about a budget: one for each BudgetReached event that names a workflow. */

interface AlertDeps extends StartDeps {
  /** Called when the run cannot start. People still see the event and the response header. */
  onRefused(refusal: Refusal, event: PublicEvent): void;
}

function argsOf({ subject, limit, period, percent, spent, at_most }: BudgetStep): string {
  const { who, model } = splitSubject(subject);
  return JSON.stringify({ subject: who, model, limit, period, percent, spent, at_most });
}

/**
 * Starts the run for a BudgetReached event. A redelivered reaction starts no second run, because its ids derive from the event.
 * Throws Unavailable: then the reaction is redelivered.
 */
export async function startAlertRun(deps: AlertDeps, event: PublicEvent): Promise<void> {
  const { alert, ...step } = event.data as BudgetStep & { alert: BudgetAlert };
  const run_id = deriveId("budget-alert", event.stream, String(event.position));
  const workflow = await findWorkflow(deps, event.organization_id, alert.workflow_id);
  const refusal = workflow
    ? await startWorkflowRun(deps, workflow, {
        run_id,
        trigger_id: null,
        started_by: { type: "system", id: "budget" },
        trigger_set_by: alert.set_by,
        run_as: null,
        args: argsOf(step),
        commandId: (attempt) => deriveCommandId("budget-alert", run_id, attempt),
      })
    : { code: "workflow_not_found" as const, message: "The workflow no longer exists." };
  if (refusal) deps.onRefused(refusal, event);
}
