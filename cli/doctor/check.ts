import { explain } from "../explain.ts";
import { Problem } from "../problem.ts";

export interface Check {
  name: string;
  /** Names of earlier checks without which this one says nothing. */
  needs?: string[];
  /** Answers with what there is to say; throws Problem, or anything, when it is not as it should be. */
  look(): Promise<string> | string;
}

export interface Finding {
  check: string;
  status: "ok" | "failed" | "skipped";
  detail: string;
  /** What to do, where it failed. */
  next?: string;
}

async function findingOf({ name, needs = [], look }: Check, earlier: Finding[]): Promise<Finding> {
  const lacking = needs.find((need) => earlier.some(({ check, status }) => check === need && status !== "ok"));
  if (lacking) return { check: name, status: "skipped", detail: `needs ${lacking}` };
  try {
    return { check: name, status: "ok", detail: await look() };
  } catch (error) {
    if (error instanceof Problem) return { check: name, status: "failed", detail: error.what, next: error.next };
    return { check: name, status: "failed", detail: explain(error), next: "mend that, then run svc doctor again" };
  }
}

/** Checks one after the other; each finding is told as it comes. */
export async function runChecks(checks: Check[], tell: (finding: Finding) => void): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    const finding = await findingOf(check, findings);
    findings.push(finding);
    tell(finding);
  }
  return findings;
}
