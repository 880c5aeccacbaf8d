import { queryOptions } from "@tanstack/react-query";
import { call, queryOne } from "./call.ts";

/* The health of the deployment, which only administrators may read. */

/** Polling interval, because no event reports changes of health. */
const RENEWED_MS = 10_000;

export interface Check {
  ok: boolean;
  detail?: unknown;
}

export interface Process {
  id: string;
  role: string;
  beat_at: string;
  alive: boolean;
}

interface ParkedStream {
  projection: string;
  stream: string;
  error: string;
  parked_at: string;
}

/** A model that an alias names. */
export interface TargetHealth {
  target: string;
  aliases: string[];
  /** Half open: the next request decides. */
  state: "closed" | "half_open" | "open";
  /** Processes that skip the model. */
  open_in: number;
  failures: number;
  since: string | null;
  retry_at: string | null;
  /** An HTTP status, or a word such as `timeout`. */
  last_error: string | null;
}

export interface DeploymentHealth {
  ready: boolean;
  checks: Record<string, Check>;
  version: { node: string };
  processes: Process[];
  parked: ParkedStream[];
  targets: TargetHealth[];
}

export const getDeploymentHealth = queryOptions({
  queryKey: ["health", "deployment"],
  queryFn: queryOne<DeploymentHealth>("health"),
  refetchInterval: RENEWED_MS,
});

export interface DeadLetter {
  seq: number;
  at: string;
  kind: "command" | "reaction";
  reason: string;
  error: string;
  type: string | null;
  stream: string | null;
  request_id: string | null;
}

export const listDeadLetters = queryOptions({
  queryKey: ["health", "deadLetters"],
  queryFn: queryOne<{ data: DeadLetter[]; has_more: boolean }>("dead-letters"),
  refetchInterval: RENEWED_MS,
});
export const replayDeadLetter = (seq: number) => call<void>(`dead-letters/${seq}/replay`, { method: "POST" });
export const removeDeadLetter = (seq: number) => call<void>(`dead-letters/${seq}`, { method: "DELETE" });
