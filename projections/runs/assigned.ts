import { idFrom } from "#events/ids.ts";
import type { ApprovalWords } from "#events/runParts.ts";
import type { z } from "zod";

type Assignee = z.infer<typeof ApprovalWords>["assignees"][number];

/** People are named by id or by e-mail address, in any case. */
const markOf = (assignee: Assignee): string =>
  idFrom("assignee", ...Object.entries(assignee).flatMap(([kind, name]) => [kind, name.toLowerCase()]));

/** Those who may decide as text that can be searched, whatever their names are made of; null where that is everybody. */
export const assignedOf = (assignees: Assignee[]): string | null =>
  assignees.length === 0 ? null : assignees.map(markOf).join(" ");

/** What an approval's `assigned` is like (SQL) where this is one of those who may decide. */
export const assignedTo = (assignee: Assignee): string => `%${markOf(assignee)}%`;
