import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Approval, ApprovalStatus, Page, Person, Run, RunStatus, RunSummary } from "./types.ts";

/* Every query of the console. Keys start with the kind of thing, which the change stream names. */

export const whoAmI = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => call<Person>("auth/me", { signal }),
});

/** Approvals that the person may decide, oldest first. */
export const listApprovals = (status: ApprovalStatus, limit: number) =>
  queryOptions({
    queryKey: ["run", "approvals", status, limit],
    queryFn: ({ signal }) =>
      call<Page<Approval>>("workflows/approvals", { signal, query: { status, limit, mine: "true" } }),
  });

export const getApproval = (id: string) =>
  queryOptions({
    queryKey: ["run", "approval", id],
    queryFn: ({ signal }) => call<Approval>(`workflows/approvals/${encodeURIComponent(id)}`, { signal }),
  });

export interface RunFilter {
  status?: RunStatus | undefined;
  workflow?: string | undefined;
  q?: string | undefined;
}

/** Runs created before `to`, so that rows stay in place while new runs start. */
export const listRuns = ({ status, workflow, q }: RunFilter, to: string, limit: number) =>
  queryOptions({
    queryKey: ["run", "list", status, workflow, q, to, limit],
    queryFn: ({ signal }) =>
      call<Page<RunSummary>>("workflows/runs", { signal, query: { status, workflow_id: workflow, q, to, limit } }),
    placeholderData: (previous) => previous,
  });

/** How many runs were created since. */
export const countNewRuns = ({ status, workflow, q }: RunFilter, from: string) =>
  queryOptions({
    queryKey: ["run", "count", status, workflow, q, from],
    queryFn: async ({ signal }) => {
      const query = { status, workflow_id: workflow, q, from, limit: 1 };
      return (await call<Page<RunSummary>>("workflows/runs", { signal, query })).total;
    },
  });

export const getRun = (id: string) =>
  queryOptions({
    queryKey: ["run", "one", id],
    queryFn: ({ signal }) => call<Run>(`workflows/runs/${encodeURIComponent(id)}`, { signal }),
  });

/** The runs that retry or fork a run. */
export const listContinuations = (id: string) =>
  queryOptions({
    queryKey: ["run", "continuations", id],
    queryFn: ({ signal }) => call<Page<RunSummary>>("workflows/runs", { signal, query: { parent_id: id, limit: 20 } }),
  });

export const listWorkflows = queryOptions({
  queryKey: ["workflow", "list"],
  queryFn: ({ signal }) => call<Page<{ id: string; name: string }>>("workflows", { signal, query: { limit: 500 } }),
});
