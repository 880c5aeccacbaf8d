import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { forkRun, listContinuations, retryRun, type Run, type Step } from "../../api/run.ts";
import { useRole } from "../../api/useRole.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { RunLink } from "../../parts/RunLink.tsx";
import { Status } from "../../parts/Status.tsx";
import { useLocationKey } from "../../parts/useLocationKey.ts";
import { ForkForm } from "./ForkForm.tsx";

export const isLive = ({ status }: Run): boolean => status === "pending" || status === "running";

/** Retries a run, or forks it at a step. Opens the new run if the person is still on the page. */
function useRetryOrFork(run: Run, step?: Step) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  return useMutation({
    mutationFn: () => (step ? forkRun(run.id, step.id) : retryRun(run.id)),
    onMutate: where,
    onSuccess: async ({ id }, _, began) => {
      if (where() === began) await navigate({ to: "/runs/$runId", params: { runId: id } });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["run"] }),
  });
}

export function RetryButton({ run }: { run: Run }) {
  const { mayWrite } = useRole();
  const retry = useRetryOrFork(run);
  if (!mayWrite || (run.status !== "failed" && run.status !== "cancelled")) return null;
  return (
    <>
      <ActionButton label="Retry" action={retry} />
      {retry.isError && <ErrorNotice error={retry.error} />}
    </>
  );
}

/** A new run from a step, with or without changes. */
export function ForkButton({ run, step, place }: { run: Run; step: Step; place: number }) {
  const { isBuilder } = useRole();
  const fork = useRetryOrFork(run, step);
  const hasRun = step.inherited || step.attempts.length > 0;
  if (!isBuilder || isLive(run) || !hasRun) return null;
  return (
    <>
      <ActionButton
        label="New run from this step"
        question={`Start a new run that executes ${step.name} and everything after it again?`}
        action={fork}
      />
      {fork.isError && <ErrorNotice error={fork.error} />}
      <ForkForm run={run} step={step} place={place} />
    </>
  );
}

const BACKWARD = { retry: "Retries", fork: "Forked from", continued: "Goes on for" };
const FORWARD = { retry: "Retried by", fork: "Forked by", continued: "Goes on as" };

/** The run that this run retries, forks or continues, and the runs that do so with this one. */
export function Continuations({ run: { id, parent } }: { run: Run }) {
  const continuations = useQuery(listContinuations(id));
  const later = continuations.data?.data ?? [];
  return (
    <>
      {parent && (
        <p className="quiet">
          {BACKWARD[parent.kind]} <RunLink id={parent.run_id} />
          {parent.step !== null && `, from the step ${parent.step} on`}.
        </p>
      )}
      {continuations.isError && (
        <ErrorNotice error={continuations.error} onRetry={() => void continuations.refetch()} />
      )}
      {later.map((run) => (
        <p key={run.id} className="quiet">
          {run.parent && FORWARD[run.parent.kind]} <RunLink id={run.id} /> <Status status={run.status} />
        </p>
      ))}
    </>
  );
}
