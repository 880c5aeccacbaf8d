import { queryOptions } from "@tanstack/react-query";
import { call, service } from "./call.ts";
import type { Page, RunSummary, Slice, TurnSummary } from "./types.ts";

const HEALTH_MS = 15_000;

export interface Health {
  isReady: boolean;
  /** Parts of the service that do not work. */
  problems: string[];
}

/** `/readyz` answers 503 with the same body when something is missing. */
export const getHealth = queryOptions({
  queryKey: ["health"],
  queryFn: async ({ signal }): Promise<Health> => {
    const response = await fetch(new URL("readyz", service), { signal });
    const body = (await response.json().catch(() => ({}))) as { checks?: Record<string, { ok: boolean }> };
    const problems = Object.entries(body.checks ?? {}).filter(([, { ok }]) => !ok);
    return { isReady: response.ok, problems: problems.map(([name]) => name) };
  },
  refetchInterval: HEALTH_MS,
});

/** The newest request that was answered: of the organization for builders, their own for others. */
export const listNewestTurn = queryOptions({
  queryKey: ["thread", "requests", "newest"],
  queryFn: ({ signal }) => call<Slice<TurnSummary>>("turns", { signal, query: { status: "completed", limit: 1 } }),
});

/** Runs that were created since then and have failed, the newest first. */
export const listFailedRuns = (from: string) =>
  queryOptions({
    queryKey: ["run", "failed", from],
    queryFn: ({ signal }) =>
      call<Page<RunSummary>>("workflows/runs", { signal, query: { status: "failed", from, limit: 5 } }),
  });
