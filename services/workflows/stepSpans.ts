import { currentTrace, inSpan, withTrace, type Attributes } from "#events/spans.ts";
import type { StepCall, StepHost, WorkflowRunner } from "./tick.ts";

const describeStep = ({ organization_id, context }: StepCall): Attributes => ({
  "svc.organization_id": organization_id,
  "svc.run_id": context.run_id,
  "svc.step_id": context.step_id,
  "svc.attempt": context.attempt,
});

/** Restores the trace in the step's host calls, which come from a process without one. */
function restoreTrace({ fetch, secret, call }: StepHost): StepHost {
  const trace = currentTrace();
  return {
    fetch: (...args) => withTrace(trace, () => fetch(...args)),
    secret: (...args) => withTrace(trace, () => secret(...args)),
    call: (...args) => withTrace(trace, () => call(...args)),
  };
}

/** A runner that records a span for each step. Turns and tools of a step belong to the trace of its run. */
export const withStepSpans = <Runner extends WorkflowRunner>(runner: Runner): Runner => ({
  ...runner,
  step: (call) =>
    inSpan("step", { attributes: describeStep(call) }, () => runner.step({ ...call, host: restoreTrace(call.host) })),
});
