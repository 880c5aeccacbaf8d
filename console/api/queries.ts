import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, pageQuery, queryOne } from "./call.ts";
import type { Approval, ApprovalOrder, ApprovalStatus, Page, Person, RunStatus, RunSummary } from "./types.ts";

/* Every query of the console. Keys start with the kind of item, as the change stream names it. */

export const getSession = queryOptions({ queryKey: ["session"], queryFn: queryOne<Person>("auth/me") });

export const APPROVALS_PER_PAGE = 50;

interface ApprovalList {
  order?: ApprovalOrder;
  /** Only decisions of this actor: `person:<id>` or `key:<id>`. */
  by?: string | undefined;
  /** Counts from 0. */
  page?: number;
}

/** Approvals that the person may decide, or those that `by` decided. */
export const listApprovals = (
  status: ApprovalStatus | undefined,
  { order = "oldest", by, page = 0 }: ApprovalList = {},
) =>
  queryOptions({
    queryKey: ["run", "approvals", status, by, order, page],
    queryFn: queryOne<Page<Approval>>("workflows/approvals", {
      status,
      order,
      ...(by === undefined ? { mine: "true" } : { decided_by: by }),
      ...pageQuery(page, APPROVALS_PER_PAGE),
    }),
    // another page or order of the same approvals
    placeholderData: (previous, query) =>
      query?.queryKey[2] === status && query?.queryKey[3] === by ? previous : undefined,
  });

export const getApproval = (id: string) =>
  queryOptions({
    queryKey: ["run", "approval", id],
    queryFn: queryOne<Approval>(itemPath("workflows/approvals", id)),
  });

export interface RunFilter {
  status?: RunStatus | undefined;
  workflow?: string | undefined;
  q?: string | undefined;
  /** Only runs that retry or fork this run. */
  parent?: string | undefined;
  /** Only runs that this run started. */
  starter?: string | undefined;
  /** `person:<id>` or `key:<id>`. */
  who?: string | undefined;
  /** Times: only runs created at or after `from`, and before `to`. */
  from?: string | undefined;
  to?: string | undefined;
}

/** The filter as query parameters of the service. */
export const runQuery = ({ status, workflow, q, parent, starter, who, from, to }: RunFilter) => ({
  status,
  workflow_id: workflow,
  q,
  parent_id: parent,
  starter_id: starter,
  started_by: who,
  from,
  to,
});

/** A page of the runs. `to` keeps rows in place while new runs start. */
export const listRuns = (filter: RunFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["run", "list", runQuery(filter), offset, limit],
    queryFn: queryOne<Page<RunSummary>>("workflows/runs", { ...runQuery(filter), offset, limit }),
    placeholderData: (previous) => previous,
  });

/** The number of matching runs. */
export const countRuns = (filter: RunFilter) =>
  queryOptions({
    queryKey: ["run", "count", runQuery(filter)],
    queryFn: async ({ signal }) => {
      const query = { ...runQuery(filter), limit: 1 };
      return (await call<Page<RunSummary>>("workflows/runs", { signal, query })).total;
    },
  });
