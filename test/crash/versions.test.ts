import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeOtherVersion } from "../../dev/crash/versions/otherVersion.ts";
import { planRollOuts } from "../../dev/crash/versions/planRollOuts.ts";
import { testFolder } from "../harness.ts";

test("the next version is the current one with one more migration, field and column", async () => {
  const root = makeOtherVersion("next", join(await testFolder(), "next"));
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  expect(read("infra/postgres/migrations/9000_next_version.sql")).toContain("add column next_version");
  expect(read("events/project.ts")).toContain("next: z.string().optional()");
  expect(read("projections/projects/project.ts")).toContain("version: 2,");
});

test("a commit that this clone lacks is an error with advice", async () => {
  const folder = await testFolder();
  expect(() => makeOtherVersion("0000000", folder)).toThrow(
    "--beside 0000000: this clone does not have that commit: fetch the history (git fetch --unshallow), or use --beside next",
  );
});

test("a version is rolled out to the roles in the documented order, and back in the opposite order", () => {
  expect(planRollOuts("next")).toEqual([
    { what: "version", role: "services", to: "other" },
    { what: "version", role: "projections", to: "other" },
    { what: "version", role: "http", to: "other" },
    { what: "version", role: "http", to: "this" },
    { what: "version", role: "projections", to: "this" },
    { what: "version", role: "services", to: "this" },
  ]);
  expect(planRollOuts("HEAD~1")[0]).toEqual({ what: "version", role: "services", to: "this" });
});
