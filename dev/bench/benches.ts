import type { Effort } from "./tools/effort.ts";

export interface Size {
  /** The factor by which `growth` is larger than by default. */
  scale: number;
  /** Duration of `soak`. */
  minutes: number;
}

/** Each bench has a section in `docs/benchmarks.md`. */
export const benches = {
  agents: async () => (await import("./agents/bench.ts")).benchAgents(),
  budgets: async (effort: Effort) => (await import("./budgets/bench.ts")).benchBudgets(effort),
  chat: async (effort: Effort) => (await import("./chat/bench.ts")).benchChat(effort),
  console: async () => (await import("./console/bench.ts")).benchConsole(),
  documents: async () => (await import("./documents/bench.ts")).benchDocuments(),
  growth: async (effort: Effort, { scale }: Size) => (await import("./growth/bench.ts")).benchGrowth(effort, scale),
  log: async (effort: Effort) => (await import("./log/bench.ts")).benchLog(effort),
  scale: async () => (await import("./scale/bench.ts")).benchScale(),
  soak: async (_: Effort, { minutes }: Size) => (await import("./soak/bench.ts")).benchSoak(minutes),
  search: async (effort: Effort) => (await import("./search/bench.ts")).benchSearch(effort),
  workflows: async (effort: Effort) => (await import("./workflows/bench.ts")).benchWorkflows(effort),
};
export type Bench = keyof typeof benches;

/** They take less than four minutes together, and show whether a figure has fallen below its floor. */
export const QUICK: Bench[] = ["chat", "log", "workflows", "search"];
