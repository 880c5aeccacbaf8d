import { queryOptions } from "@tanstack/react-query";
import { call, queryOne, SERVICE_URL } from "./call.ts";
import type { Page, RunSummary, Slice, TurnSummary } from "./types.ts";

const HEALTH_MS = 15_000;
const FAILURES_MS = 30_000;

export interface Health {
  isReady: boolean;
  /** The failing parts of the service. */
  problems: string[];
}

/** `/readyz` answers 503 with the same body when something is missing. */
export const getHealth = queryOptions({
  queryKey: ["health"],
  queryFn: async ({ signal }): Promise<Health> => {
    const response = await fetch(new URL("readyz", SERVICE_URL), { signal });
    const body = (await response.json().catch(() => ({}))) as { checks?: Record<string, { ok: boolean }> };
    const problems = Object.entries(body.checks ?? {}).filter(([, { ok }]) => !ok);
    return { isReady: response.ok, problems: problems.map(([name]) => name) };
  },
  refetchInterval: HEALTH_MS,
});

/** The newest answered request: of the organization for builders, a person's own for others. */
export const listNewestTurn = queryOptions({
  queryKey: ["thread", "requests", "newest"],
  queryFn: queryOne<Slice<TurnSummary>>("turns", { status: "completed", limit: 1 }),
});

/** Failed runs that were created since then, newest first. */
export const listFailedRuns = (from: string) =>
  queryOptions({
    queryKey: ["run", "failed", from],
    queryFn: queryOne<Page<RunSummary>>("workflows/runs", { status: "failed", from, limit: 5 }),
  });

/** Failures of the requests for a model or an alias. `refused`: requests without any answer, which are not stored. */
export interface FailedModel {
  model: string;
  failed: number;
  refused: number;
}

interface RequestCounts extends Slice<TurnSummary> {
  counts: { model: string; turns: number }[];
  counts_complete: boolean;
}

/** Requests since then that failed or were refused, by model, most failures first, as the service counts them. `isWhole`: all were counted. */
export const countFailures = (from: string) =>
  queryOptions({
    // its key does not begin with "thread", because then every new request would repeat the count
    queryKey: ["failures", from],
    refetchInterval: FAILURES_MS,
    queryFn: async ({ signal }) => {
      const read = (status: "failed" | "refused") =>
        call<RequestCounts>("turns", { signal, query: { status, from, counts: "model", limit: 1 } });
      const [failed, refused] = await Promise.all([read("failed"), read("refused")]);
      const models = new Map<string, FailedModel>();
      for (const { model, turns } of failed.counts) models.set(model, { model, failed: turns, refused: 0 });
      for (const { model, turns } of refused.counts)
        models.set(model, { failed: 0, ...models.get(model), model, refused: turns });
      const most = [...models.values()].sort((a, b) => b.failed + b.refused - a.failed - a.refused);
      return { models: most, isWhole: failed.counts_complete && refused.counts_complete };
    },
  });
