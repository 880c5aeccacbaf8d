import { expect, test } from "vitest";
import { nameDeciders } from "./deciders.ts";

const AT = "2026-01-01T00:00:00.000Z";
const ann = { id: "1", email: "ann@example.org", name: "Ann" };
const bob = { id: "2", email: "bob@example.org", name: "Bob" };
const cleo = { id: "3", email: "cleo@example.org", name: "Cleo" };
const handed = (by: typeof ann, to: typeof ann, has_effect = true) => ({
  by,
  to,
  reason: "On leave",
  at: AT,
  has_effect,
});

test("the people, groups and roles who may decide are named", () => {
  const assignees = [{ person: "Ann@example.org" }, { person: "2" }, { group: "finance" }, { role: "owner" }];
  const names = nameDeciders({ assignees, delegations: [] }, [ann, bob]);
  expect(names).toBe("Ann, Bob, the group finance, or owners");
  expect(nameDeciders({ assignees: [], delegations: [] }, [ann])).toBeUndefined();
});

test("a person who delegated the approval is left out, and the delegate is named", () => {
  const assignees = [{ person: "ann@example.org" }];
  const after = (...delegations: ReturnType<typeof handed>[]) =>
    nameDeciders({ assignees, delegations }, [ann, bob, cleo]);
  expect(after(handed(ann, bob))).toBe("Bob");
  expect(after(handed(ann, bob), handed(bob, ann))).toBe("Ann");
  expect(after(handed(ann, bob), handed(bob, cleo))).toBe("Cleo");
});

test("a delegation without effect changes nothing", () => {
  const assignees = [{ person: "1" }];
  expect(nameDeciders({ assignees, delegations: [handed(ann, bob, false)] }, [ann, bob])).toBe("Ann");
  const again = [handed(ann, bob, false), handed(ann, cleo)];
  expect(nameDeciders({ assignees, delegations: again }, [ann, bob, cleo])).toBe("Cleo");
});
