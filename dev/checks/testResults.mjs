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
/** Whether a file could not be loaded or prepared. It has no failed tests and counts as one. */
export const isBroken = (file) => hasFailed(file) && failedTests(file).length === 0;
export const isFailed = (file) => isBroken(file) || failedTests(file).length > 0;

/** The results of the second run of failed files. */
export const secondRunOf = (path) => path.replace(/\.json$/, ".again.json");

/**
 * The files of a run with their final results, and those that failed first and passed when run alone. `endedWell`: false if the
 * runner failed without a failed file, for example because of an error outside of tests.
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
