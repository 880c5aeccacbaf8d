import type { ToolApproval, ToolApprovals, ToolCondition } from "#events/toolApproval.ts";
import type { ToolCall } from "#events/thread.ts";
import { parseArguments } from "./tools/parseArguments.ts";

/** Maximum characters of arguments that a person is asked to approve. Longer ones could hide their effect. */
const MAX_ARGUMENTS = 20_000;

/** The decision about a call. `isStarted`: it ran, or its process died just before. */
export type CallDecision =
  | { status: "approved"; isStarted: boolean }
  | { status: "rejected"; comment: string | null }
  | { status: "expired" };

/** Whether a call may run now. */
export type ToolGate =
  | { kind: "open" }
  /** Approved: it runs at most once, so its start is recorded first. */
  | { kind: "approved" }
  /** Does not run; the model reads the reason. */
  | { kind: "closed"; reason: string }
  /** A person must decide first. */
  | { kind: "waits"; approval: ToolApproval };

interface GateOptions {
  /** The agent's rules, by tool. */
  approvals: ToolApprovals;
  /** Whether a workflow step asked, which cannot wait for days. */
  isOfRun: boolean;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseArguments(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a person must approve a call with these arguments. If in doubt, yes. */
export function needsApproval(when: ToolCondition | null, text: string): boolean {
  if (when === null) return true;
  const args = parseObject(text) ?? {};
  const value = Object.hasOwn(args, when.argument) ? args[when.argument] : undefined;
  if ("above" in when) return !(typeof value === "number" && value <= when.above);
  return !when.not_in.some((allowed) => allowed === value);
}

function decided(decision: CallDecision): ToolGate {
  switch (decision.status) {
    case "approved":
      return decision.isStarted
        ? {
            kind: "closed",
            reason:
              "The process that ran this call was lost, and it is not known whether the call took effect. It is not made again.",
          }
        : { kind: "approved" };
    case "rejected": {
      const { comment } = decision;
      const quote = comment === null ? "" : ` The person said: ${comment}`;
      return { kind: "closed", reason: `A person rejected this call, so it did not run.${quote}` };
    }
    case "expired":
      return { kind: "closed", reason: "Nobody approved this call in time, so it did not run." };
  }
}

/** Whether a call that has no result yet may run. */
export function findToolGate(call: ToolCall, decision: CallDecision | undefined, options: GateOptions): ToolGate {
  if (decision) return decided(decision);
  const { approvals, isOfRun } = options;
  const approval = Object.hasOwn(approvals, call.name) ? approvals[call.name] : undefined;
  if (!approval || !needsApproval(approval.when, call.arguments)) return { kind: "open" };
  if (isOfRun)
    return {
      kind: "closed",
      reason: "This call needs the approval of a person, which a step of a workflow cannot wait for. It did not run.",
    };
  if (call.arguments.length > MAX_ARGUMENTS)
    return {
      kind: "closed",
      reason: `This call needs the approval of a person, and its arguments are longer than the ${MAX_ARGUMENTS} characters that one can read. It did not run.`,
    };
  return { kind: "waits", approval };
}
