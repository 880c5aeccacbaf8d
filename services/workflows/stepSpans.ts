import { currentTrace, inSpan, withTrace, type Attributes } from "#events/spans.ts";
import type { StepCall, StepHost, WorkflowRunner } from "./tick.ts";

const about = ({ organization_id, context }: StepCall): Attributes => ({
  "svc.organization_id": organization_id,
  "svc.run_id": context.run_id,
  "svc.step_id": context.step_id,
  "svc.attempt": context.attempt,
});

/** What a step asks for arrives from another process, which knows no trace. */
function inTraceOf({ fetch, secret, call }: StepHost): StepHost {
  const trace = currentTrace();
  return {
    fetch: (...asked) => withTrace(trace, () => fetch(...asked)),
    secret: (...asked) => withTrace(trace, () => secret(...asked)),
    call: (...asked) => withTrace(trace, () => call(...asked)),
  };
}

/** A runner whose steps have a span each, and whose turns and tools belong to the trace of their run. */
export const withStepSpans = <Runner extends WorkflowRunner>(runner: Runner): Runner => ({
  ...runner,
  step: (call) =>
    inSpan("step", { attributes: about(call) }, () => runner.step({ ...call, host: inTraceOf(call.host) })),
});
