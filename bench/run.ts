import { parseArgs } from "node:util";
import { print } from "./tools/report.ts";
import { progress } from "./tools/progress.ts";

const benches = {
  chat: async () => (await import("./chat/bench.ts")).benchChat(),
  log: async () => (await import("./log/bench.ts")).benchLog(),
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean" } } });
const [name] = positionals;
if (name !== "chat" && name !== "log") {
  console.error("usage: npm run bench -- chat|log [--json]");
  process.exitCode = 2;
} else {
  try {
    const report = await benches[name]();
    progress("");
    if (!print(report, values.json === true)) process.exitCode = 1;
  } catch (error) {
    progress("");
    console.error(error);
    // What was under way when it failed may hold connections open.
    process.exit(1);
  }
}
