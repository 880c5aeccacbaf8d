import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { TurnEnd } from "#events/ports.ts";

/** Dependencies and followers by name. */
export type Checks = Record<string, { ok: boolean; detail?: unknown }>;
/** What some of them tell of themselves. */
interface Detail {
  lag?: number;
  parked?: number;
  streams?: Record<string, { messages: number } | undefined>;
}
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
  const named = { labelNames: ["name"], registers };
  const up = new Gauge({ name: "dependency_up", help: "1 where a dependency or follower is well", ...named });
  const lag = new Gauge({ name: "follower_lag_events", help: "Events that a follower has still to read", ...named });
  const parked = new Gauge({
    name: "follower_parked_streams",
    help: "Streams that a read model could not follow",
    ...named,
  });
  const waiting = new Gauge({
    name: "bus_messages",
    help: "Messages in a stream of the bus",
    labelNames: ["stream"],
    registers,
  });

  return {
    health(checks: Checks) {
      for (const [name, { ok, detail }] of Object.entries(checks)) {
        up.set({ name }, ok ? 1 : 0);
        if (detail === null || typeof detail !== "object") continue;
        const told = detail as Detail;
        if (told.lag !== undefined) lag.set({ name }, told.lag);
        if (told.parked !== undefined) parked.set({ name }, told.parked);
        for (const [stream, size] of Object.entries(told.streams ?? {}))
          if (size) waiting.set({ stream }, size.messages);
      }
    },
    request(method: string, route: string, status: number, seconds: number) {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    turn(end: TurnEnd) {
      turns.inc({ status: end.status });
      if (end.status === "refused") return;
      tokens.inc({ kind: "prompt" }, end.usage.prompt_tokens);
      tokens.inc({ kind: "completion" }, end.usage.completion_tokens);
    },
  };
}
