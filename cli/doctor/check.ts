import { explainError } from "../explainError.ts";
import { CliError } from "../cliError.ts";

export interface Check {
  name: string;
  /** Names of earlier checks that must have passed. */
  needs?: string[];
  /** Returns a detail to print. Throws CliError, or any error, if the check fails. */
  run(): Promise<string> | string;
}

export interface Finding {
  check: string;
  status: "ok" | "failed" | "skipped";
  detail: string;
  /** What to do after a failure. */
  next?: string;
}

async function runCheck({ name, needs = [], run }: Check, earlier: Finding[]): Promise<Finding> {
  const missing = needs.find((need) => earlier.some(({ check, status }) => check === need && status !== "ok"));
  if (missing) return { check: name, status: "skipped", detail: `needs ${missing}` };
  try {
    return { check: name, status: "ok", detail: await run() };
  } catch (error) {
    if (error instanceof CliError) return { check: name, status: "failed", detail: error.what, next: error.next };
    return { check: name, status: "failed", detail: explainError(error), next: "fix that, then run svc doctor again" };
  }
}

/** Runs the checks one after the other, and reports each result at once. */
export async function runChecks(checks: Check[], onFinding: (finding: Finding) => void): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    const finding = await runCheck(check, findings);
    findings.push(finding);
    onFinding(finding);
  }
  return findings;
}
