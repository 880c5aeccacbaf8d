import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { SPACE_USES, type SpaceUse } from "#events/freeSpace.ts";
import { HEALED_FAULTS, type HealedFault } from "#events/healedFaults.ts";
import type { LogLimits } from "#events/logLimits.ts";
import type { TurnEnd } from "#events/ports.ts";
import { measureEventLoopDelay } from "./eventLoopDelay.ts";

/** Dependencies and followers by name. */
export type Checks = Record<string, { ok: boolean; detail?: unknown }>;
/** The details that are exported as metrics. */
interface Detail {
  lag?: number;
  parked?: number;
  free?: number;
  streams?: Record<string, { messages: number } | undefined>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counters of the HTTP server. Routes are labelled by pattern, never by path. */
function createCounters(registers: Registry[]) {
  return {
    requests: new Counter({
      name: "http_requests_total",
      help: "Requests answered",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    durations: new Histogram({
      name: "http_request_duration_seconds",
      help: "From the request's first byte to the answer's last",
      labelNames: ["method", "route"],
      buckets: SECONDS,
      registers,
    }),
    turns: new Counter({
      name: "chat_turns_total",
      help: "Turns answered, by how they ended",
      labelNames: ["status"],
      registers,
    }),
    healed: new Counter({
      name: "healed_faults_total",
      help: "Faults of NATS, the network and the machines that processes healed by themselves",
      labelNames: ["fault"],
      registers,
    }),
    refusedForSpace: new Counter({
      name: "requests_refused_for_space_total",
      help: "Requests refused because a disk is almost full",
      labelNames: ["use"],
      registers,
    }),
    targets: new Counter({
      name: "model_target_failures_total",
      help: "Targets of aliases that did not answer a turn, by reason",
      labelNames: ["reason"],
      registers,
    }),
    tokens: new Counter({
      name: "chat_tokens_total",
      help: "Tokens of answered turns",
      labelNames: ["kind"],
      registers,
    }),
  };
}

function createHealthGauges(registers: Registry[]) {
  const byName = { labelNames: ["name"], registers };
  return {
    up: new Gauge({ name: "dependency_up", help: "1 while a dependency or follower is healthy", ...byName }),
    lag: new Gauge({ name: "follower_lag_events", help: "Events that a follower has still to read", ...byName }),
    parked: new Gauge({
      name: "follower_parked_streams",
      help: "Streams that a read model could not follow",
      ...byName,
    }),
    free: new Gauge({ name: "disk_free_ratio", help: "Free share of the disk of a store", ...byName }),
    messages: new Gauge({
      name: "bus_messages",
      help: "Messages in a stream of the bus",
      labelNames: ["stream"],
      registers,
    }),
  };
}

export function measureLogLimits(registry: Registry, { countReached }: Pick<LogLimits, "countReached">): void {
  new Gauge({
    name: "organizations_over_log_limit",
    help: "Organizations whose events, or values of runs, take more than they may",
    registers: [registry],
    collect() {
      this.set(countReached());
    },
  });
}

/** `usage`: bytes that the open runs of this process have reserved, and the number of runs that wait for room. */
export function measureRunMemory(registry: Registry, usage: () => { bytes: number; waiting: number }): void {
  const registers = [registry];
  new Gauge({
    name: "run_memory_bytes",
    help: "Memory reserved for the results of open workflow runs",
    registers,
    collect() {
      this.set(usage().bytes);
    },
  });
  new Gauge({
    name: "run_memory_waiting",
    help: "Workflow runs that wait for memory",
    registers,
    collect() {
      this.set(usage().waiting);
    },
  });
}

export function createMetrics(registry: Registry) {
  const counters = createCounters([registry]);
  const gauges = createHealthGauges([registry]);
  measureEventLoopDelay(registry);
  // starts at 0, because an alert cannot see the first increment of a series that did not exist
  for (const fault of HEALED_FAULTS) counters.healed.inc({ fault }, 0);
  for (const use of SPACE_USES) counters.refusedForSpace.inc({ use }, 0);
  return {
    health(checks: Checks) {
      for (const [name, { ok, detail }] of Object.entries(checks)) {
        gauges.up.set({ name }, ok ? 1 : 0);
        if (detail === null || typeof detail !== "object") continue;
        const { lag, parked, free, streams = {} } = detail as Detail;
        if (free !== undefined) gauges.free.set({ name }, free);
        if (lag !== undefined) gauges.lag.set({ name }, lag);
        if (parked !== undefined) gauges.parked.set({ name }, parked);
        for (const [stream, size] of Object.entries(streams)) if (size) gauges.messages.set({ stream }, size.messages);
      }
    },
    request(method: string, route: string, status: number, seconds: number) {
      counters.requests.inc({ method, route, status });
      counters.durations.observe({ method, route }, seconds);
    },
    healed(fault: HealedFault) {
      counters.healed.inc({ fault });
    },
    refusedForSpace(use: SpaceUse) {
      counters.refusedForSpace.inc({ use });
    },
    turn(end: TurnEnd) {
      counters.turns.inc({ status: end.status });
      for (const reason of end.failed_targets ?? []) counters.targets.inc({ reason });
      if (end.status === "refused") return;
      counters.tokens.inc({ kind: "prompt" }, end.usage.prompt_tokens);
      counters.tokens.inc({ kind: "completion" }, end.usage.completion_tokens);
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
