import { expect, test } from "vitest";
import { nameDeciders } from "./deciders.ts";

const ann = { id: "1", email: "ann@example.org", name: "Ann", active: true, role: "approver" as const };
const bob = { id: "2", email: "bob@example.org", name: "Bob", active: true, role: "approver" as const };
const handed = (by: typeof ann, to: typeof ann) => ({ by, to, reason: "On leave", at: "2026-01-01T00:00:00.000Z" });

test("the people, groups and roles who may decide are named", () => {
  const assignees = [{ person: "Ann@example.org" }, { person: "2" }, { group: "finance" }, { role: "owner" }];
  expect(nameDeciders({ assignees, delegations: [] }, [ann, bob])).toBe("Ann, Bob, the group finance, or owners");
  expect(nameDeciders({ assignees: [], delegations: [] }, [ann])).toBeUndefined();
});

test("a person who delegated the approval is left out, and the delegate is named", () => {
  const assignees = [{ person: "ann@example.org" }];
  expect(nameDeciders({ assignees, delegations: [handed(ann, bob)] }, [ann, bob])).toBe("Bob");
  expect(nameDeciders({ assignees, delegations: [handed(ann, bob), handed(bob, ann)] }, [ann, bob])).toBe("Ann");
  for (const now of [{ active: false }, { role: "viewer" as const }])
    expect(nameDeciders({ assignees, delegations: [handed(ann, bob)] }, [ann, { ...bob, ...now }])).toBe("Ann");
});
