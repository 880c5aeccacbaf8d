import { beforeAll, expect, test } from "vitest";
import { projections } from "#projections/index.ts";
import { openWithEightEvents, type CommandLine, type EightEvents } from "./events.ts";
import { json } from "./svc.ts";

let cli: CommandLine;
let its: EightEvents;
const names = projections.map((projection) => projection.name);
beforeAll(async () => {
  ({ cli, its } = await openWithEightEvents());
});

test("svc projections rebuild --all builds every read model, and status prints their versions and positions", async () => {
  const before = json(await cli.svc("projections", "status", "--json"));
  expect(before).toMatchObject({ head: 8, passages: { index_id: null, lag: 8, documents: 0, building: null } });
  expect(before.projections.map((one: any) => [one.name, one.version, one.lag])).toEqual(
    names.map((name) => [name, null, 8]),
  );

  // no process follows the log here, so each is built up to the log's head
  const rebuilt = json(await cli.svc("projections", "rebuild", "--all", "--json"));
  expect(rebuilt.rebuilt).toEqual(names.map((name) => ({ name, position: 8, parked: 0 })));
  const after = json(await cli.svc("projections", "status", "--json"));
  for (const one of after.projections)
    expect(one).toMatchObject({ version: one.wanted_version, position: 8, lag: 0, parked: [] });
});

test("svc projections status prints a parked stream with its error, and a rebuild includes the stream again", async () => {
  const parked = [its.organization, "7", "Unprojectable: no such\ncolumn \u001b[31m"];
  await its.pool.query(
    "insert into log.parked (projection, stream, position, error) values ('organizations', $1, $2, $3)",
    parked,
  );
  const { stdout } = await cli.svc("projections", "status");
  expect(stdout).toContain(`organizations has parked ${its.organization} at position 7: Unprojectable: no such\n`);
  const rebuilt = await cli.svc("projections", "rebuild", "organizations");
  expect(rebuilt).toMatchObject({ code: 0, stdout: "organizations was rebuilt and serves from position 8.\n" });
  const { projections: statuses } = json(await cli.svc("projections", "status", "--json"));
  expect(statuses.flatMap((one: any) => one.parked)).toEqual([]);
});

test("svc projections rebuild without a valid name prints the valid names", async () => {
  for (const args of [[], ["nonsense"], ["keys", "--all"]]) {
    const { code, stderr } = await cli.svc("projections", "rebuild", ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(`name one of ${names.join(", ")}, passages, or use --all.`);
  }
});

test("svc projections rebuild passages fails before the first document, and without a running service", async () => {
  const none = await cli.svc("projections", "rebuild", "passages");
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("There is no passage index yet");
  await its.pool.query("insert into ops.search_index (index_id, version) values ('x-passages-1', 1)");
  const withoutLeader = await cli.svc("projections", "rebuild", "passages");
  expect(withoutLeader).toMatchObject({ code: 1, stdout: "" });
  expect(withoutLeader.stderr).toContain("No services process is running");
  const { stdout } = await cli.svc("projections", "status");
  expect(stdout).toContain("The passage index x-passages-1 finds 0 documents.");
});
