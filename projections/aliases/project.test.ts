import { expect, test } from "vitest";
import { AliasConfigured, AliasRemoved } from "#events/alias.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { aliases, aliasId } from "./project.ts";

test("the projection of aliases has a row for each, which goes with it", () => {
  const rules = { on: ["5xx"], timeout_seconds: 60, max_attempts: 5, max_seconds: 180 };
  const settings = { targets: [{ model: "p/a" }], ...rules };
  const configured = AliasConfigured.of({ alias: "fast", ...settings });
  const at = { table: "aliases", key: { id: aliasId(ORGANIZATION, "fast") } };
  expect(projectEvents(aliases, "alias-1", configured, AliasRemoved.of({ alias: "fast" }))).toEqual([
    {
      ...at,
      kind: "put",
      row: { organization_id: ORGANIZATION, name: "fast", settings: expect.any(String), updated_at: RECORDED_AT },
    },
    { ...at, kind: "remove" },
  ]);
});
