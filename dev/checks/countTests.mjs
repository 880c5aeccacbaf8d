import { failedTests, isBroken, readRun } from "./testResults.mjs";

/*
 * Prints flaky and failed tests with the reasons, then `N passed, N failed`, from vitest's JSON results; exits with 1 if anything
 * failed or there are no results. Runs on Node 20.
 */

// People see the end of the output first, so the reason must not be thousands of lines above it.
function printFailures(file, word) {
  if (isBroken(file)) console.log(`${word}: ${file.name}\n  ${file.message}`);
  for (const { fullName, failureMessages } of failedTests(file))
    console.log(`${word}: ${fullName} (${file.name})\n  ${failureMessages.join("\n  ").slice(0, 2_000)}`);
}

const countStatus = (files, ...statuses) =>
  files.reduce((sum, file) => sum + file.assertionResults.filter(({ status }) => statuses.includes(status)).length, 0);

function countRun({ files, unsteady, endedWell }) {
  for (const file of unsteady) printFailures(file, "unsteady (passed when run alone)");
  for (const file of files) printFailures(file, "failed");
  const failed = countStatus(files, "failed") + files.filter(isBroken).length;
  if (failed === 0 && !endedWell) console.log("failed: the tests ended with an error outside of every test, see above");
  return {
    passed: countStatus(files, "passed"),
    failed: Math.max(failed, endedWell ? 0 : 1),
    skipped: countStatus(files, "pending", "todo", "skipped"),
  };
}

const counts = process.argv.slice(2).map((path) => countRun(readRun(path)));
const sum = (what) => counts.reduce((all, one) => all + one[what], 0);
const [passed, failed, skipped] = ["passed", "failed", "skipped"].map(sum);

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
if (failed > 0 || passed === 0) process.exitCode = 1;
