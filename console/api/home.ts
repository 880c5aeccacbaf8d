import { queryOptions } from "@tanstack/react-query";
import { call, service } from "./call.ts";
import type { Page, RunSummary, Slice, TurnSummary } from "./types.ts";

const HEALTH_MS = 15_000;
const FAILURES_MS = 30_000;

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

/** What failed of the requests that asked for a model or an alias. `refused`: none of it was answered or kept. */
export interface FailedModel {
  model: string;
  failed: number;
  refused: number;
}

/** As many as a page can have. */
const MAX_COUNTED = 500;

/** Requests that began since then and have failed or were refused, by model, the one with most first. `isWhole`: all were counted. */
export const countFailures = (from: string) =>
  queryOptions({
    // not below "thread": every request would have a thousand others read again
    queryKey: ["failures", from],
    refetchInterval: FAILURES_MS,
    queryFn: async ({ signal }) => {
      const read = (status: "failed" | "refused") =>
        call<Slice<TurnSummary>>("turns", { signal, query: { status, from, limit: MAX_COUNTED } });
      const [failed, refused] = await Promise.all([read("failed"), read("refused")]);
      const models = new Map<string, FailedModel>();
      for (const { model, status } of [...failed.data, ...refused.data]) {
        const counts = models.get(model) ?? { model, failed: 0, refused: 0 };
        models.set(model, counts);
        counts[status as "failed" | "refused"]++;
      }
      const most = [...models.values()].sort((a, b) => b.failed + b.refused - a.failed - a.refused);
      return { models: most, isWhole: !failed.has_more && !refused.has_more };
    },
  });
