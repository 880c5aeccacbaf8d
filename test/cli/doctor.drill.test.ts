import { expect, test } from "vitest";
import { startHeartbeat } from "#infra/postgres/heartbeat.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { letRefuse } from "../log/refusing.ts";
import { openWithEightEvents } from "./events.ts";
import { failedChecks as failing, json } from "./svc.ts";

const { cli, its } = await openWithEightEvents();
await cli.svc("projections", "rebuild", "--all");

test("svc doctor passes every check on a working deployment", async () => {
  const ran = await cli.svc("doctor", "--json");
  expect(failing(ran)).toEqual([]);
  expect(ran.code).toBe(0);
  const { ok, checks } = json(ran);
  expect(ok).toBe(true);
  expect(checks.every((one: any) => one.status === "ok")).toBe(true);
  expect(checks.find((one: any) => one.check === "master key").detail).toBe("opens event 7");
  expect((await cli.svc("doctor")).stdout).toContain("All checks passed.");
});

test("svc doctor fails while PostgreSQL refuses appends", async () => {
  const { takeAgain } = await letRefuse(its.pool, "53100");
  const ran = await cli.svc("doctor", "--json");
  await takeAgain();
  expect(failing(ran)).toEqual([
    {
      check: "appends",
      status: "failed",
      detail: "a write failed: The disk of the database is full",
      next: expect.stringContaining("make space"),
    },
  ]);
});

test("svc doctor sends a command without effect to the running services, and fails if none takes it", async () => {
  const running = await cli.startRoles();
  const checked = await cli.svc("doctor", "--json");
  await running.stop();
  expect(failing(checked)).toEqual([]);
  const commands = json(checked).checks.find((one: any) => one.check === "commands");
  expect(commands.detail).toMatch(/^one was taken after \d+ ms$/);

  const pool = openPool(cli.database.url, { max: 1, name: "http-alone" });
  const heartbeat = await startHeartbeat(pool, { worker: "http-alone", role: "http" }, () => {});
  const alone = await cli.svc("doctor", "--json");
  await heartbeat.leave();
  await pool.end();
  expect(failing(alone)).toEqual([
    {
      check: "commands",
      status: "failed",
      detail: "no services process takes commands (none within 2 s)",
      next: expect.stringContaining("start a services process"),
    },
  ]);
});

test("svc doctor fails for a parked stream, and names the next step", async () => {
  await its.pool.query(
    "insert into log.parked (projection, stream, position, error) values ('keys', 'key-x', 3, 'boom')",
  );
  const ran = await cli.svc("doctor", "--json");
  await its.pool.query("delete from log.parked");
  expect(ran.code).toBe(1);
  expect(failing(ran)).toEqual([
    {
      check: "parked streams",
      status: "failed",
      detail: "1 in keys",
      next: expect.stringContaining("svc projections rebuild"),
    },
  ]);
});

test("svc doctor fails for a wrong master key, an altered head of the chain, and a read model of another version", async () => {
  await its.pool.query("update log.head set hash = sha256('x')");
  await its.pool.query("update log.checkpoints set version = 0 where name = 'turns'");
  const foreign = await cli.svcWith({ MASTER_KEY: Buffer.alloc(32, 9).toString("base64") }, "doctor", "--json");
  expect(failing(foreign).map((one: any) => [one.check, one.detail])).toEqual([
    ["chain's head", "the head has another hash than event 8"],
    ["master key", "it does not open event 7"],
    ["followers", "not built at this version: turns"],
  ]);
});

test("svc doctor fails once for each unreachable server, and skips the checks that need it", async () => {
  const gone = {
    DATABASE_URL: "postgres://svc:secret@127.0.0.1:1/svc",
    NATS_URL: "nats://127.0.0.1:1",
    MEILI_MASTER_KEY: "wrong",
  };
  const ran = await cli.svcWith(gone, "doctor", "--json");
  expect(ran.code).toBe(1);
  expect(failing(ran).map((one: any) => one.check)).toEqual(["PostgreSQL", "NATS", "Meilisearch"]);
  expect(ran.stdout + ran.stderr).not.toContain("secret");
  expect(json(ran).checks.filter((one: any) => one.status === "skipped")).toHaveLength(14);
  const wrong = await cli.svcWith({ PORT: "many" }, "doctor");
  expect(wrong.stdout).toContain("PORT must be a whole number");
});

test("svc doctor fails for replicas on a server without a cluster, even if the streams exist", async () => {
  const ran = await cli.svcWith({ NATS_REPLICAS: "3" }, "doctor", "--json");
  const [found] = failing(ran).filter((one: any) => one.check === "NATS");
  expect([ran.code, found.detail]).toEqual([
    1,
    expect.stringMatching(/NATS_REPLICAS is 3, and the stream .+ is in no cluster/),
  ]);
});
