import type { Attempt, Run, Step } from "../../api/run.ts";
import { formatDuration } from "../../format/index.ts";
import { Bar, type Bounds } from "../../parts/Bar.tsx";
import { Status } from "../../parts/Status.tsx";
import { StepItem, StepLink } from "../../parts/StepLine.tsx";
import { Value } from "../../parts/Value.tsx";
import { ForkButton } from "./Continuations.tsx";
import { SourcePlace } from "./SourcePlace.tsx";
import { stepTime } from "./span.ts";

function AttemptLine({ run, attempt }: { run: Run; attempt: Attempt }) {
  const { n, status, started_at, ended_at, error, error_info, logs, logs_truncated } = attempt;
  return (
    <li>
      <p>
        Attempt {n} <Status status={status} />{" "}
        {ended_at && <span className="quiet">{formatDuration(Date.parse(ended_at) - Date.parse(started_at))}</span>}
      </p>
      {error && <p className="bad-text">{error}</p>}
      {error_info && <SourcePlace run={run} place={error_info} />}
      {logs.length > 0 && <Value label={logs_truncated ? "Log (cut off)" : "Log"} value={logs.join("\n")} />}
    </li>
  );
}

function StepDetails({ run, step }: { run: Run; step: Step }) {
  const omitted = (field: "args" | "result") => step.omitted?.includes(field);
  return (
    <>
      {step.error && <p className="notice bad">{step.error}</p>}
      <div className="pair">
        <Value label="Arguments" value={omitted("args") ? "Too long to be shown here." : step.args} />
        <Value label="Result" value={omitted("result") ? "Too long to be shown here." : step.result} />
      </div>
      <ol className="plain stack">
        {step.attempts.map((attempt) => (
          <AttemptLine key={attempt.n} run={run} attempt={attempt} />
        ))}
      </ol>
      <p className="quiet mono">idempotency key {step.idempotency_key}</p>
      <ForkButton run={run} step={step} />
    </>
  );
}

interface RowProps {
  run: Run;
  step: Step;
  isOpen: boolean;
  bounds: Bounds;
}

/** One step over the time that it took; opened, with every attempt. */
export function StepRow({ run, step, isOpen, bounds }: RowProps) {
  const { start, end } = stepTime(step, bounds.to);
  const line = (
    <StepLink
      to="/runs/$runId"
      params={{ runId: run.id }}
      search={isOpen ? {} : { step: step.id }}
      replace
      isOpen={isOpen}
    >
      <span className="step-name">
        {step.name}
        {step.index !== null && <span className="quiet"> #{step.index}</span>}
      </span>
      <Status status={step.status} />
      {step.inherited ? (
        <span className="quiet">inherited</span>
      ) : (
        <Bar within={bounds} start={start} end={end} tone={step.status} />
      )}
      <span className="quiet number">{step.attempts.length > 0 ? formatDuration(end - start) : ""}</span>
    </StepLink>
  );
  return <StepItem line={line}>{isOpen && <StepDetails run={run} step={step} />}</StepItem>;
}
