import { z } from "zod";
import { Assignee } from "./runParts.ts";

const Value = z.union([z.string().max(1_000), z.number(), z.boolean()]);
/** Names a top-level argument in the call's JSON. */
const argument = z.string().min(1).max(200);

/**
 * A person is asked unless the argument is a number up to the limit, or is one of the values. A missing argument, or one of another
 * type, asks a person as well.
 */
export const ToolCondition = z.union([
  z.strictObject({ argument, above: z.number() }),
  z.strictObject({ argument, not_in: z.array(Value).min(1).max(100) }),
]);
export type ToolCondition = z.infer<typeof ToolCondition>;

/** Seven days: no tool call waits longer for a person. */
export const MAX_TOOL_APPROVAL_SECONDS = 7 * 24 * 60 * 60;

/** Who must allow a tool's calls before they run. */
export const ToolApproval = z.object({
  /** Empty: everybody who may decide approvals. */
  assignees: z.array(Assignee).max(50),
  /** Whether the person who asked the agent may decide. */
  self_approval: z.boolean(),
  allow_api_key: z.boolean(),
  /** Null: the deployment's default. */
  expires_in_seconds: z.int().min(1).max(MAX_TOOL_APPROVAL_SECONDS).nullable(),
  /** Null: every call needs an approval. */
  when: ToolCondition.nullable(),
});
export type ToolApproval = z.infer<typeof ToolApproval>;

/** Approval rules by tool name. */
export const ToolApprovals = z.record(z.string(), ToolApproval);
export type ToolApprovals = z.infer<typeof ToolApprovals>;

/** Every call needs an approval, by anybody who may decide approvals except API keys. */
export const APPROVAL_FOR_EVERY_CALL: ToolApproval = {
  assignees: [],
  self_approval: true,
  allow_api_key: false,
  expires_in_seconds: null,
  when: null,
};
