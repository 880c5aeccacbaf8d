import { parseArgs } from "node:util";
import type { Effort } from "./tools/effort.ts";
import { record } from "./tools/record.ts";
import { print, type Report } from "./tools/report.ts";
import { progress } from "./tools/progress.ts";

const benches = {
  agents: async () => (await import("./agents/bench.ts")).benchAgents(),
  chat: async (effort: Effort) => (await import("./chat/bench.ts")).benchChat(effort),
  documents: async () => (await import("./documents/bench.ts")).benchDocuments(),
  log: async (effort: Effort) => (await import("./log/bench.ts")).benchLog(effort),
  scale: async () => (await import("./scale/bench.ts")).benchScale(),
  search: async (effort: Effort) => (await import("./search/bench.ts")).benchSearch(effort),
  workflows: async (effort: Effort) => (await import("./workflows/bench.ts")).benchWorkflows(effort),
};
type Bench = keyof typeof benches;

/** Under four minutes together: they find out whether a floor has fallen. */
const QUICK: Bench[] = ["chat", "log", "workflows", "search"];

async function run(names: Bench[], effort: Effort, json: boolean): Promise<{ reports: Report[]; hold: boolean }> {
  const reports: Report[] = [];
  let hold = true;
  for (const name of names) {
    const report = await benches[name](effort);
    progress("");
    hold = print(report, json) && hold;
    reports.push(report);
  }
  return { reports, hold };
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, record: { type: "boolean", default: false } },
});
const [name = ""] = positionals;
if (name !== "quick" && !(name in benches)) {
  console.error(`usage: npm run bench -- quick|${Object.keys(benches).join("|")} [--json] [--record]`);
  process.exitCode = 2;
} else {
  try {
    const names = name === "quick" ? QUICK : [name as Bench];
    const { reports, hold } = await run(names, name === "quick" ? "quick" : "full", values.json);
    if (values.record) record(name, reports);
    if (!hold) process.exitCode = 1;
  } catch (error) {
    progress("");
    console.error(error);
    // Unfinished work may hold connections open, so the process would not end by itself.
    process.exit(1);
  }
}
