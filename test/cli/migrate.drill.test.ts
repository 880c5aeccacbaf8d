import { expect, test } from "vitest";
import { afterFile } from "#test/cleanUp.ts";
import { administer, freshName } from "#test/template.ts";
import { openCommandLine } from "./svc.ts";

const { svc, database } = await openCommandLine();

test("svc migrate applies missing migrations once", async () => {
  await administer(database.url, "drop schema log, ops, read cascade; drop table svc_migrations");
  const first = await svc("migrate");
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(/^Applied 0001_log, .*\.\n$/);
  expect(await svc("migrate")).toMatchObject({ code: 0, stdout: "The database has every migration.\n" });
});

test("svc migrate lets a role run the service, and explains what to do if the role does not exist", async () => {
  const role = freshName("migrated");
  expect(await svc("migrate", "--service-role", role)).toMatchObject({
    code: 1,
    stderr: `The role ${role} did not get its rights (role "${role}" does not exist): create the role, and run this as the owner of the tables, who is a member of the role or a superuser.\n`,
  });
  await administer(database.url, `create role ${role}`);
  afterFile(() => administer(database.url, `drop owned by ${role}; drop role ${role}`));
  expect(await svc("migrate", "--service-role", role)).toMatchObject({
    code: 0,
    stdout: `The database has every migration.\nThe role ${role} can run the service.\n`,
  });
});

test("a program runs on a database with newer additive migrations, and refuses a database that requires a newer program", async () => {
  await administer(database.url, "insert into svc_migrations (name, run_on) values ('9000_added', now())");
  const { stdout } = await svc("doctor", "--json");
  const { detail } = JSON.parse(stdout).checks.find(({ check }: { check: string }) => check === "migrations");
  expect(detail).toMatch(/^\d+ of \d+, and 9000_added of a newer version$/);

  await administer(database.url, "insert into ops.required_migrations values ('0001_log'), ('9000_added')");
  const refusal =
    "The database needs a newer version of this program, one with the migration 9000_added: start the version that migrated it or a newer one, or restore the backup from before.\n";
  expect(await svc("http")).toMatchObject({ code: 1, stderr: refusal });
  expect(await svc("doctor")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/migration 9000_added\n +-> start the version/),
  });
});
