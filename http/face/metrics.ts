import { Counter, Histogram, type Registry } from "prom-client";
import type { Usage } from "#events/thread.ts";

export type Metrics = ReturnType<typeof createMetrics>;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counters of this room; routes by their pattern, never by their path. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ["method", "route", "status"];
  const requests = new Counter({ name: "http_requests_total", help: "Requests answered", labelNames, registers });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "From the request's first byte to the answer's last",
    labelNames: ["method", "route"],
    buckets: SECONDS,
    registers,
  });
  const turns = new Counter({
    name: "chat_turns_total",
    help: "Turns answered, by how they ended",
    labelNames: ["status"],
    registers,
  });
  const tokens = new Counter({
    name: "chat_tokens_total",
    help: "Tokens of answered turns",
    labelNames: ["kind"],
    registers,
  });

  return {
    request(method: string, route: string, status: number, seconds: number) {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    turn(status: string, usage?: Usage) {
      turns.inc({ status });
      if (!usage) return;
      tokens.inc({ kind: "prompt" }, usage.prompt_tokens);
      tokens.inc({ kind: "completion" }, usage.completion_tokens);
    },
  };
}
