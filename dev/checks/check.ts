import { join } from "node:path";
import { styleText } from "node:util";
import { findFaults, readApiDescription } from "./apiDescription.ts";
import { gates } from "./gates.ts";
import { proveGates } from "./proof.ts";
import { runTool } from "./tool.ts";

/* `npm run check`: runs every gate on the project, and proves that each gate detects faults. Shows all failures, then exits with 1. */

const root = join(import.meta.dirname, "..", "..");
const failures: string[] = [];

const printResult = (name: string, start: number, ok: boolean, detail: string): void => {
  const mark = ok ? styleText("green", "ok  ") : styleText("red", "FAIL");
  const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  console.log(`${mark}  ${name.padEnd(12)} ${seconds.padStart(6)}${detail && `  ${detail}`}`);
};

for (const gate of gates) {
  const start = performance.now();
  const { ok, stdout, stderr } = await runTool(gate.command, root);
  printResult(gate.name, start, ok, ok ? "" : gate.command.join(" "));
  if (!ok) failures.push(`${gate.name}\n${stdout}${stderr}`);
}

const descriptionStart = performance.now();
const faults = await findFaults(await readApiDescription());
printResult("/openapi.json", descriptionStart, faults.length === 0, "");
if (faults.length > 0) failures.push(`/openapi.json\n${faults.join("\n")}`);

const start = performance.now();
const { planted, wrong } = await proveGates();
printResult("fixtures", start, wrong.length === 0, `${planted} planted faults`);
if (wrong.length > 0) failures.push(`fixtures\n${wrong.join("\n")}`);

for (const failure of failures) console.error(`\n${failure.trimEnd()}`);
if (failures.length > 0) process.exitCode = 1;
