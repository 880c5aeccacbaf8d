import { parseArgs } from "node:util";
import { benches, QUICK, type Bench, type Size } from "./benches.ts";
import type { Effort } from "./tools/effort.ts";
import { record, requireBlock } from "./tools/record.ts";
import { print, type Report } from "./tools/report.ts";
import { progress } from "./tools/progress.ts";
import { SLOWDOWN_MS } from "./tools/slowdownSetting.ts";

interface RunOptions extends Size {
  effort: Effort;
  json: boolean;
}

/** Runs benches. One below a floor is repeated, because another program may have disturbed it; the second run counts. */
async function run(
  names: Bench[],
  { effort, json, ...size }: RunOptions,
): Promise<{ reports: Report[]; hold: boolean }> {
  const reports: Report[] = [];
  let hold = true;
  const measure = async (name: Bench): Promise<{ report: Report; holds: boolean }> => {
    const report = await benches[name](effort, size);
    progress("");
    return { report, holds: print(report, json) };
  };
  for (const name of names) {
    let measured = await measure(name);
    if (!measured.holds && name !== "soak") {
      console.error(`${name} is below a floor and is measured once more; the second run counts.`);
      measured = await measure(name);
    }
    hold = measured.holds && hold;
    reports.push(measured.report);
  }
  return { reports, hold };
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    scale: { type: "string", default: "1" },
    minutes: { type: "string", default: "120" },
    "slow-ms": { type: "string" },
  },
});
if (values["slow-ms"]) process.env[SLOWDOWN_MS] = values["slow-ms"];
const [name = "", ...some] = positionals;
const isBench = (given: string): given is Bench => Object.hasOwn(benches, given);
// Quick runs are not recorded, because each bench has a block of its own.
const isQuickRecorded = values.record && name === "quick";
if ((name !== "quick" && !isBench(name)) || !some.every(isBench) || isQuickRecorded) {
  console.error(
    `usage: npm run bench -- quick [BENCH…] [--json] [--slow-ms N]
       npm run bench -- ${Object.keys(benches).join("|")} [--json] [--record] [--scale N] [--minutes N] [--slow-ms N]`,
  );
  process.exitCode = 2;
} else {
  try {
    if (values.record) requireBlock(name);
    const quick = some.length > 0 ? some : QUICK;
    const names = isBench(name) ? [name] : quick;
    const { reports, hold } = await run(names, {
      effort: name === "quick" ? "quick" : "full",
      json: values.json,
      scale: Number(values.scale),
      minutes: Number(values.minutes),
    });
    if (values.record) record(name, reports);
    if (!hold) process.exitCode = 1;
  } catch (error) {
    progress("");
    console.error(error);
    // Unfinished work may hold connections open, so the process would not end by itself.
    process.exit(1);
  }
}
