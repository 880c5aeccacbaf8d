import { expect, test } from "vitest";
import { findFormerMembers, describeFormerMember } from "../../console/format/formerMember.ts";

const [ADA, MO] = ["01a21991-bce5-7e4f-8d3c-5b0f6a2e9c11", "01a21991-bce5-7e4f-8d3c-5b0f00000001"];
const event = (type: string, day: string, data: object) => ({
  type,
  data: data as Record<string, unknown>,
  recorded_at: `2026-${day}T12:00:00.000Z`,
  principal: `person:${MO}`,
});

test("former members are listed newest first, with their last role, when they left and who removed them", () => {
  const events = [
    event("UserRegistered", "03-03", { user_id: ADA, role: "viewer" }),
    event("UserRegistered", "03-04", { user_id: MO, role: "owner" }),
    event("UserChanged", "04-01", { user_id: ADA, role: "builder" }),
    event("UserChanged", "04-02", { user_id: ADA, active: false }),
    event("UserRemoved", "05-12", { user_id: ADA }),
  ];
  const [one, ...others] = findFormerMembers(events);
  expect(others).toEqual([]);
  expect(one).toEqual({
    id: ADA,
    role: "builder",
    joined_at: "2026-03-03T12:00:00.000Z",
    removed_at: "2026-05-12T12:00:00.000Z",
    removed_by: `person:${MO}`,
  });
  expect(describeFormerMember(one!)).toBe("former builder, 3 Mar 2026 to 12 May 2026 (6a2e9c11)");
  const last = event("UserRemoved", "06-01", { user_id: MO });
  expect(findFormerMembers([...events, last]).map(({ id }) => id)).toEqual([MO, ADA]);
});
