import { z } from "zod";
import { Assignee } from "./runParts.ts";

const Value = z.union([z.string().max(1_000), z.number(), z.boolean()]);
/** Names an argument at the top of the call's JSON. */
const argument = z.string().min(1).max(200);

/**
 * A person is asked unless the argument is a number that is not above the limit, or is one of the values. An argument that is
 * missing, or of another type, asks too.
 */
export const ToolCondition = z.union([
  z.strictObject({ argument, above: z.number() }),
  z.strictObject({ argument, not_in: z.array(Value).min(1).max(100) }),
]);
export type ToolCondition = z.infer<typeof ToolCondition>;

/** Seven days: nobody waits longer for a tool. */
export const MAX_TOOL_APPROVAL_SECONDS = 7 * 24 * 60 * 60;

/** Who must allow the calls of a tool before they run. */
export const ToolApproval = z.object({
  /** Empty: everybody who may decide approvals. */
  assignees: z.array(Assignee).max(50),
  /** Whether the one who asked the agent may decide. */
  self_approval: z.boolean(),
  allow_api_key: z.boolean(),
  /** Null: as the deployment sets it. */
  expires_in_seconds: z.int().min(1).max(MAX_TOOL_APPROVAL_SECONDS).nullable(),
  /** Null: each call asks. */
  when: ToolCondition.nullable(),
});
export type ToolApproval = z.infer<typeof ToolApproval>;

/** By the name of the tool. */
export const ToolApprovals = z.record(z.string(), ToolApproval);
export type ToolApprovals = z.infer<typeof ToolApprovals>;

/** Asks for each call; everybody who may decide approvals may, except API keys. */
export const ALWAYS: ToolApproval = {
  assignees: [],
  self_approval: true,
  allow_api_key: false,
  expires_in_seconds: null,
  when: null,
};
