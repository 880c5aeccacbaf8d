import { expect, test } from "vitest";
import { HoldPlaced, HoldReleased, holdStream } from "#events/hold.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { holds } from "./project.ts";

test("a hold is a row that stays when it is released", () => {
  const hold_id = "0198c0de-0000-7000-8000-00000000000a";
  const at = { table: "holds", key: { id: hold_id } };
  const placed = HoldPlaced.of({ hold_id, subject: "organization", name: "Case 7" }, { reason: "A claim" });
  const by = { placed_by: "system", created_at: RECORDED_AT };
  expect(projectEvents(holds, holdStream(ORGANIZATION), placed, HoldReleased.of({ hold_id }))).toEqual([
    {
      ...at,
      kind: "put",
      row: { organization_id: ORGANIZATION, ...by, subject: "organization", name: '"Case 7"', reason: '"A claim"' },
    },
    { ...at, kind: "patch", row: { released_by: "system", released_at: RECORDED_AT } },
  ]);
});
