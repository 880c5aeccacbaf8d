import { useQuery } from "@tanstack/react-query";
import { getStep, type Attempt, type Run, type Step } from "../../api/run.ts";
import { formatDuration } from "../../format/index.ts";
import { Bar, type Bounds } from "../../parts/Bar.tsx";
import { QueryResult } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { StepItem, StepLink } from "../../parts/StepLine.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { ForkButton } from "./Continuations.tsx";
import { SourcePlace } from "./SourcePlace.tsx";
import { describeRetry } from "./describeReason.ts";
import { stepTime } from "./timelineEntries.ts";
import { StepExplanation } from "./StepExplanation.tsx";

function AttemptLine({ run, attempt, why }: { run: Run; attempt: Attempt; why: string | undefined }) {
  const { n, status, started_at, ended_at, error, error_info, logs, logs_truncated } = attempt;
  return (
    <li>
      <p>
        Attempt {n} <Status status={status} />{" "}
        {ended_at && <span className="quiet">{formatDuration(Date.parse(ended_at) - Date.parse(started_at))}</span>}
      </p>
      {why && <p className="quiet">{why}</p>}
      {error && <p className="bad-text">{error}</p>}
      {error_info && <SourcePlace run={run} place={error_info} />}
      {logs.length > 0 && <ValueBlock label={logs_truncated ? "Log (cut off)" : "Log"} value={logs.join("\n")} />}
    </li>
  );
}

interface StepProps {
  run: Run;
  step: Step;
  /** Its position in the list of steps. */
  place: number;
}

/** The arguments and the result of a step. */
function Values({ run, step, place }: StepProps) {
  const read = useQuery(getStep(run.id, place, step.status));
  return (
    <QueryResult query={read} what="values">
      {(found) => (
        <div className="pair">
          <ValueBlock
            label="Arguments"
            value={found?.omitted?.includes("args") ? "Too long to be shown here." : found?.args}
          />
          <ValueBlock
            label="Result"
            value={found?.omitted?.includes("result") ? "Too long to be shown here." : found?.result}
          />
        </div>
      )}
    </QueryResult>
  );
}

function StepDetails({ run, step, place }: StepProps) {
  return (
    <>
      {step.error && <p className="notice bad">{step.error}</p>}
      <StepExplanation run={run} step={step} />
      <Values run={run} step={step} place={place} />
      <ol className="plain stack">
        {step.attempts.map((attempt) => (
          <AttemptLine key={attempt.n} run={run} attempt={attempt} why={describeRetry(step.attempts, attempt.n)} />
        ))}
      </ol>
      <p className="quiet mono">idempotency key {step.idempotency_key}</p>
      <ForkButton run={run} step={step} place={place} />
    </>
  );
}

interface RowProps extends StepProps {
  isOpen: boolean;
  bounds: Bounds;
}

/** One step over its duration; if opened, with every attempt. */
export function StepRow({ run, step, place, isOpen, bounds }: RowProps) {
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
  return <StepItem line={line}>{isOpen && <StepDetails run={run} step={step} place={place} />}</StepItem>;
}
