import { isFailed, readRun } from "./testResults.mjs";

/*
 * Prints the failed files in vitest's JSON results, one per line, if they are few enough to be run again
 * (docs/adr/0034-ci-runs-a-failed-file-twice.md). Runs on Node 20.
 */

const MOST = 3;
const failed = readRun(process.argv[2]).files.filter(isFailed);
if (failed.length <= MOST) for (const { name } of failed) console.log(name);
