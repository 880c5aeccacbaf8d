import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { explainStep, type Run, type Step } from "../../api/run.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { describeReason } from "./describeReason.ts";

/** Why a step of a retry or fork was executed or not. */
export function StepExplanation({ run, step }: { run: Run; step: Step }) {
  const isContinued = run.parent !== null && run.parent.kind !== "continued";
  const { data, error, refetch } = useQuery({ ...explainStep(run.id, step.id), enabled: isContinued });
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const words = data && describeReason(data);
  if (!words) return null;
  const { parent } = data;
  return (
    <div className="notice">
      <p>
        {words}{" "}
        {parent?.step_id && (
          <Link to="/runs/$runId" params={{ runId: parent.run_id }} search={{ step: parent.step_id }}>
            See it there
          </Link>
        )}
      </p>
      {data.reason === "arguments" && <ValueBlock label="Its arguments there" value={parent?.args} />}
    </div>
  );
}
