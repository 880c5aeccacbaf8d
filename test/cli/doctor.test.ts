import { afterAll, beforeAll, expect, test } from "vitest";
import { startMute } from "../doubles/muteServer.ts";
import { eightEvents } from "./events.ts";
import { aCommandLine, json, type Ran } from "./svc.ts";

let cli: Awaited<ReturnType<typeof aCommandLine>>;
let its: Awaited<ReturnType<typeof eightEvents>>;
beforeAll(async () => {
  cli = await aCommandLine();
  its = await eightEvents(cli.database.url, cli.key);
  await cli.svc("projections", "rebuild", "--all");
});
afterAll(() => its.pool.end());

const failing = (ran: Ran) => json(ran).checks.filter((one: any) => one.status === "failed");

test("everything in order: every check is ok", async () => {
  const ran = await cli.svc("doctor", "--json");
  expect(failing(ran)).toEqual([]);
  expect(ran.code).toBe(0);
  const { ok, checks } = json(ran);
  expect(ok).toBe(true);
  expect(checks.every((one: any) => one.status === "ok")).toBe(true);
  expect(checks.find((one: any) => one.check === "master key").detail).toBe("opens event 7");
  expect((await cli.svc("doctor")).stdout).toContain("All is well.");
});

test("a parked stream fails, and says what to do next", async () => {
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

test("a foreign master key, a chain whose head was changed and a read model of another version fail", async () => {
  await its.pool.query("update log.head set hash = sha256('x')");
  await its.pool.query("update log.checkpoints set version = 0 where name = 'turns'");
  const foreign = await cli.svcWith({ MASTER_KEY: Buffer.alloc(32, 9).toString("base64") }, "doctor", "--json");
  expect(failing(foreign).map((one: any) => [one.check, one.detail])).toEqual([
    ["chain's head", "the head's hash is not that of event 8"],
    ["master key", "it does not open event 7"],
    ["followers", "not built at this version: turns"],
  ]);
});

test("what cannot be reached fails once; what needs it is skipped", async () => {
  const gone = {
    DATABASE_URL: "postgres://svc:secret@127.0.0.1:1/svc",
    NATS_URL: "nats://127.0.0.1:1",
    MEILI_MASTER_KEY: "wrong",
  };
  const ran = await cli.svcWith(gone, "doctor", "--json");
  expect(ran.code).toBe(1);
  expect(failing(ran).map((one: any) => one.check)).toEqual(["PostgreSQL", "NATS", "Meilisearch"]);
  expect(ran.stdout + ran.stderr).not.toContain("secret");
  expect(json(ran).checks.filter((one: any) => one.status === "skipped")).toHaveLength(9);
  const wrong = await cli.svcWith({ PORT: "many" }, "doctor");
  expect(wrong.stdout).toContain("PORT must be a whole number");
});

test("a NATS that accepts connections and says nothing: tools tell of it within seconds, a role after half a minute, and all of them end", async () => {
  const mute = await startMute();
  const NATS_URL = `nats://${mute.host}`;
  const next = "see that it runs and that NATS_URL is right";
  const detail = `NATS at ${mute.host} does not answer`;
  try {
    const role = cli.svcWith({ NATS_URL }, "projections");
    const began = Date.now();
    const ran = await cli.svcWith({ NATS_URL }, "doctor", "--json");
    expect(ran.code).toBe(1);
    expect(failing(ran)).toContainEqual({ check: "NATS", status: "failed", detail, next });
    const listed = await cli.svcWith({ NATS_URL }, "dead", "list");
    expect(listed).toMatchObject({ code: 1, stderr: `${detail}: ${next}.\n` });
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(await role).toMatchObject({ code: 1, stderr: expect.stringContaining("No NATS server answers") });
  } finally {
    mute.close();
  }
}, 90_000);

test("replicas that a server without a cluster cannot keep fail, also where the streams are there", async () => {
  const ran = await cli.svcWith({ NATS_REPLICAS: "3" }, "doctor", "--json");
  const [found] = failing(ran).filter((one: any) => one.check === "NATS");
  expect([ran.code, found.detail]).toEqual([
    1,
    expect.stringMatching(/NATS_REPLICAS is 3, and the stream .+ is in no cluster/),
  ]);
});
