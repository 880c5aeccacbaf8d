import { deriveId } from "#events/ids.ts";
import type { ApprovalText } from "#events/runParts.ts";
import type { z } from "zod";

type Assignee = z.infer<typeof ApprovalText>["assignees"][number];

/** A fixed-length hash of an assignee. Approvals name people by id or e-mail address, in any case. */
const assigneeWord = (assignee: Assignee): string =>
  deriveId("assignee", ...Object.entries(assignee).flatMap(([kind, name]) => [kind, name.toLowerCase()]));

/** The assignees as text that SQL can search, whatever characters their names contain; null if everybody may decide. */
export const encodeAssignees = (assignees: Assignee[]): string | null =>
  assignees.length === 0 ? null : assignees.map(assigneeWord).join(" ");

/** SQL `like` pattern that matches the encoded assignees if this one is among them. */
export const assigneePattern = (assignee: Assignee): string => `%${assigneeWord(assignee)}%`;
