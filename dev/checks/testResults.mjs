import { existsSync, readFileSync } from "node:fs";

/* Reads vitest's JSON results. Runs on Node 20. */

const hasFailed = ({ status }) => status === "failed";
const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    console.error(`The tests left no results: ${error.message}`);
    return { testResults: [], success: false };
  }
};

export const failedTests = (file) => file.assertionResults.filter(hasFailed);
/** A file that cannot be loaded or prepared has no failed test to count; it counts as one. */
export const isBroken = (file) => hasFailed(file) && failedTests(file).length === 0;
export const isFailed = (file) => isBroken(file) || failedTests(file).length > 0;

/** Where the second run of the failed files leaves its results. */
export const secondRunOf = (path) => path.replace(/\.json$/, ".again.json");

/**
 * A run's files as they ended, and those that failed at first and passed alone. `endedWell` is false where the runner failed
 * without a failed file, such as by an error outside of every test.
 */
export function readRun(path) {
  const { testResults: first, success } = readJson(path);
  const again = existsSync(secondRunOf(path)) ? readJson(secondRunOf(path)) : { testResults: [], success: true };
  const second = new Map(again.testResults.map((file) => [file.name, file]));
  return {
    files: first.map((file) => (isFailed(file) && second.get(file.name)) || file),
    unsteady: first.filter((file) => isFailed(file) && second.has(file.name) && !isFailed(second.get(file.name))),
    endedWell: again.success && (success || first.some(isFailed)),
  };
}
