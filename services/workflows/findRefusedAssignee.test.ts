import { expect, test } from "vitest";
import { findRefusedAssignee } from "./findRefusedAssignee.ts";
import type { ApprovalCall } from "./newApprovals.ts";

/** An organization without members and groups. */
const log = { heads: async () => new Map(), read: async () => [], readNewest: async () => [] };
const refusalOf = async (options: object) =>
  (await findRefusedAssignee(log, "o", [{ key: "k", options } as unknown as ApprovalCall]))?.message;
const people = (...names: string[]) => names.map((person) => ({ person }));
const votes = { required: 2, one_rejection_ends: true };

test("a person who is named twice counts as one voter", async () => {
  const only = "awaitApproval: required is 2, but only 1 person is asked.";
  expect(await refusalOf({ assignees: people("ann@x.de", "Ann@X.de"), votes })).toBe(only);
  const escalate = { after_ms: 1, to: people("ann@x.de") };
  expect(await refusalOf({ assignees: people("ann@x.de", "ann@x.de"), escalate, votes })).toBe(only);
});

test.each([
  ["two people are asked", { assignees: people("ann@x.de", "bob@x.de"), votes }],
  ["nobody is named, so that everybody who may decide is asked", { assignees: [], votes }],
  ["a role is asked, whose members are not counted", { assignees: [{ role: "owner" }], votes }],
  ["one vote decides", { assignees: people("ann@x.de", "ann@x.de") }],
])("an approval is not refused if %s", async (_, options) => {
  expect(await refusalOf(options)).toBeUndefined();
});
