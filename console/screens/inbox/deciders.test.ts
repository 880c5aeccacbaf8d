import { expect, test } from "vitest";
import { nameDeciders } from "./deciders.ts";

const AT = "2026-01-01T00:00:00.000Z";
const ann = { id: "1", email: "ann@example.org", name: "Ann", active: true, role: "approver" as const };
const bob = { id: "2", email: "bob@example.org", name: "Bob", active: true, role: "approver" as const };
const cleo = { id: "3", email: "cleo@example.org", name: "Cleo", active: true, role: "approver" as const };
const handed = (by: typeof ann, to: typeof ann) => ({ by, to, reason: "On leave", at: AT });
const voteOf = ({ id, name }: typeof ann) => ({
  by: { type: "person" as const, id, name },
  in_place_of: null,
  decision: "approve" as const,
  comment: null,
  files: [],
  at: AT,
});

test("the people, groups and roles who may decide are named", () => {
  const assignees = [{ person: "Ann@example.org" }, { person: "2" }, { group: "finance" }, { role: "owner" }];
  const names = nameDeciders({ assignees, delegations: [], votes: [] }, [ann, bob]);
  expect(names).toBe("Ann, Bob, the group finance, or owners");
  expect(nameDeciders({ assignees: [], delegations: [], votes: [] }, [ann])).toBeUndefined();
});

test("a person who delegated the approval is left out, and the delegate is named", () => {
  const approval = { assignees: [{ person: "ann@example.org" }], delegations: [handed(ann, bob)], votes: [] };
  expect(nameDeciders(approval, [ann, bob])).toBe("Bob");
  expect(nameDeciders({ ...approval, delegations: [handed(ann, bob), handed(bob, ann)] }, [ann, bob])).toBe("Ann");
  for (const now of [{ active: false }, { role: "viewer" as const }])
    expect(nameDeciders(approval, [ann, { ...bob, ...now }])).toBe("Ann");
});

test("a delegate who has passed the approval on and has left is left out, and so is the person who delegated", () => {
  const delegations = [handed(ann, bob), handed(bob, cleo)];
  const approval = { assignees: [{ person: "1" }], delegations, votes: [] };
  expect(nameDeciders(approval, [ann, { ...bob, active: false }, cleo])).toBe("Cleo");
});

test("a delegate is left out after the person who delegated has voted or delegated again", () => {
  const approval = { assignees: [{ person: "1" }, { person: "3" }], delegations: [handed(ann, bob)] };
  expect(nameDeciders({ ...approval, votes: [voteOf(ann)] }, [ann, bob, cleo])).toBe("Ann or Cleo");
  const again = { assignees: [{ person: "1" }], delegations: [handed(ann, bob), handed(ann, cleo)], votes: [] };
  expect(nameDeciders(again, [ann, bob, cleo])).toBe("Cleo");
});

test("a delegate is named although the person who delegated has voted in place of somebody else", () => {
  const votes = [{ ...voteOf(ann), in_place_of: { id: cleo.id, name: cleo.name } }];
  const approval = { assignees: [{ person: "1" }, { person: "3" }], delegations: [handed(ann, bob)], votes };
  expect(nameDeciders(approval, [ann, bob, cleo])).toBe("Cleo or Bob");
});
