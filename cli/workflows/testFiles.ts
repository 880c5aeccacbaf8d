import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { print, escapeControls, printJson } from "../output.ts";
import { CliError } from "../cliError.ts";
import { parseFile } from "./answers.ts";
import { openLocalSandbox, type LocalSandbox } from "./loadScript.ts";
import { runCase, TestFile } from "./testCases.ts";

const SUFFIX = ".test.json";

interface CaseResult {
  file: string;
  name: string;
  /** Null when it passed. */
  fault: string | null;
}

/** The test files at a path: of a folder, of a definition, or the file itself. Throws CliError. */
function findTestFiles(path: string): string[] {
  if (statSync(path).isDirectory()) {
    const found = readdirSync(path)
      .filter((name) => name.endsWith(SUFFIX))
      .toSorted();
    if (found.length > 0) return found.map((name) => join(path, name));
    throw new CliError(`${path} has no test cases`, `add a file such as refund${SUFFIX} beside refund.ts`);
  }
  const file = path.endsWith(SUFFIX) ? path : path.replace(/\.[jt]s$/, SUFFIX);
  if (existsSync(file)) return [file];
  throw new CliError(`${path} has no test cases`, `add ${file}`);
}

/** The definition next to a test file. Throws CliError. */
function definitionFor(file: string): string {
  const name = basename(file, SUFFIX);
  const found = [".ts", ".js"].map((end) => join(dirname(file), `${name}${end}`)).find((each) => existsSync(each));
  if (found) return found;
  throw new CliError(`${file} belongs to no definition`, `add ${name}.ts beside it`);
}

async function testFile(sandbox: LocalSandbox, file: string): Promise<CaseResult[]> {
  const { cases } = parseFile(TestFile, readFileSync(file, "utf8"), file);
  const script = await sandbox.load(definitionFor(file));
  const results: CaseResult[] = [];
  for (const test of cases)
    results.push({ file, name: test.name, fault: (await runCase(sandbox, script, test)) ?? null });
  return results;
}

/** Runs the cases of all paths in the sandbox, without a service. */
export async function runTestFiles(paths: string[]): Promise<CaseResult[]> {
  const sandbox = openLocalSandbox();
  try {
    const results: CaseResult[] = [];
    for (const file of paths.flatMap(findTestFiles)) results.push(...(await testFile(sandbox, file)));
    return results;
  } finally {
    await sandbox.close();
  }
}

/** Prints one line per case. A failed case sets exit code 1. */
export async function testDefinitions(paths: string[], options: { json?: boolean }): Promise<void> {
  const results = await runTestFiles(paths);
  const failed = results.filter(({ fault }) => fault !== null);
  if (options.json) printJson(results);
  else {
    for (const { file, name, fault } of results)
      print(
        `${fault === null ? "ok    " : "FAILED"} ${file}: ${escapeControls(name)}${fault === null ? "" : `\n       ${escapeControls(fault)}`}`,
      );
    print(`${results.length - failed.length} of ${results.length} cases passed`);
  }
  if (failed.length > 0) process.exitCode = 1;
}
