import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openTenant, SOON } from "../workflows/tenant.ts";

/* A round of retention whose process is killed is ended by another one: everything old is gone, once, and nothing else. */

const OLD = 150;
const YOUNG = 5;
const TOGETHER = 10;

test("a killed retention sweep continues in another process, deletes each expired item once, and deletes nothing else", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["http", "projections"], deployment });
  const { db } = platform.resources;
  const killed = await startProcess("services", deployment);
  const home = await openTenant(platform.url, await platform.organization("Home"));
  const say = async () => {
    const messages = [{ role: "user", content: "Hi" }];
    const answer = await home.key("POST", "/openai/v1/chat/completions", { model: "offline/echo", messages });
    return answer.headers.get("x-thread-id")!;
  };
  async function sayOften(count: number): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push(...(await Promise.all(Array.from({ length: TOGETHER }, say))));
    return ids;
  }
  const old = await sayOften(OLD);
  await home.owner("GET", "/threads?limit=1");
  for (const [table, columns] of [
    ["threads", ["created_at"]],
    ["turns", ["started_at", "ended_at"]],
  ] as const)
    await db.query(
      `update read.${table} set ${columns.map((column) => `${column} = now() - interval '40 days'`).join(", ")} where organization_id = $1`,
      [home.organization_id],
    );
  const young = await sayOften(YOUNG);
  const deletions = async () =>
    (
      await db.query<{ stream: string }>(
        "select stream from log.events where organization_id = $1 and type = 'ThreadDeleted' order by position",
        [home.organization_id],
      )
    ).map(({ stream }) => stream);

  await home.made(home.owner("PUT", "/retention/organization", { threads: "30d" }));
  await expect.poll(async () => (await deletions()).length, { ...SOON, interval: 10 }).toBeGreaterThan(0);
  killed.kill();
  await killed.ended;
  const before = (await deletions()).length;
  expect(before).toBeLessThan(old.length);

  await startProcess("services", deployment);
  const rules = () => home.made(home.owner("GET", "/retention/organization"));
  await expect.poll(async () => (await rules()).last_round_at, { ...SOON, timeout: 60_000 }).not.toBeNull();
  const gone = await deletions();
  expect(gone.toSorted()).toEqual(old.map((id) => `thread-${id}`).toSorted());
  const listed = async () => (await home.made(home.key("GET", "/threads?limit=100"))).data.map(({ id }: any) => id);
  expect((await listed()).toSorted()).toEqual(young.toSorted());
  const keys = await db.query("select from log.keys where stream = any ($1)", [gone]);
  expect(keys).toEqual([]);
  expect((await rules()).deleted.threads).toBeGreaterThan(0);
  expect((await rules()).deleted.threads).toBeLessThanOrEqual(old.length);
});
