import { parseArgs } from "node:util";
import { print } from "./tools/report.ts";
import { progress } from "./tools/progress.ts";

const benches = {
  agents: async () => (await import("./agents/bench.ts")).benchAgents(),
  chat: async () => (await import("./chat/bench.ts")).benchChat(),
  documents: async () => (await import("./documents/bench.ts")).benchDocuments(),
  log: async () => (await import("./log/bench.ts")).benchLog(),
  scale: async () => (await import("./scale/bench.ts")).benchScale(),
  search: async () => (await import("./search/bench.ts")).benchSearch(),
  workflows: async () => (await import("./workflows/bench.ts")).benchWorkflows(),
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean" } } });
const [name] = positionals;
if (name === undefined || !(name in benches)) {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join("|")} [--json]`);
  process.exitCode = 2;
} else {
  try {
    const report = await benches[name as keyof typeof benches]();
    progress("");
    if (!print(report, values.json === true)) process.exitCode = 1;
  } catch (error) {
    progress("");
    console.error(error);
    // What was under way when it failed may hold connections open.
    process.exit(1);
  }
}
