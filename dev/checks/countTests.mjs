import { readFileSync } from "node:fs";

/* Prints what failed and why, then `N passed, N failed`, from vitest's JSON results, all of them; exits 1 when anything failed or there are no results. Runs on Node 20. */

const read = (path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    console.error(`The tests left no results: ${error.message}`);
    return undefined;
  }
};

const hasFailed = ({ status }) => status === "failed";
/** A file that cannot be loaded or prepared has no failed test to count; it counts as one. */
const isBroken = (file) => hasFailed(file) && !file.assertionResults.some(hasFailed);
// The end of the output is what a person sees first; the reason must not be thousands of lines above it.
const printFailures = (file) => {
  if (isBroken(file)) console.log(`failed: ${file.name}\n  ${file.message}`);
  for (const { fullName, failureMessages } of file.assertionResults.filter(hasFailed)) {
    console.log(`failed: ${fullName} (${file.name})\n  ${failureMessages.join("\n  ").slice(0, 2_000)}`);
  }
};

const counts = process.argv.slice(2).map((path) => {
  const results = read(path);
  const files = results?.testResults ?? [];
  for (const file of files) printFailures(file);
  const broken = files.filter(isBroken).length;
  return {
    passed: results?.numPassedTests ?? 0,
    failed: Math.max((results?.numFailedTests ?? 0) + broken, results?.success ? 0 : 1),
    skipped: (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0),
  };
});
const sum = (what) => counts.reduce((all, one) => all + one[what], 0);
const [passed, failed, skipped] = ["passed", "failed", "skipped"].map(sum);

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
if (failed > 0 || passed === 0) process.exitCode = 1;
