import { beforeEach, expect, test } from "vitest";
import { say } from "../http/service.ts";
import { startPlatform, testDeployment, type Platform } from "../platform.ts";
import { openStepSite, openTenant, SOON, workflowSource, type StepSite } from "../workflows/harness.ts";
import { shiftClock } from "./shiftClock.ts";

/*
 * A process whose clock jumps by an hour while it works. It takes no new work; what it has begun, and what it lets people read, must
 * be judged by PostgreSQL's time.
 */

const HOUR_MS = 3_600_000;
const real = Date.now;
let site: StepSite;
let platform: Platform;
let home: Awaited<ReturnType<typeof openTenant>>;

beforeEach(async () => {
  site = await openStepSite();
  platform = await startPlatform({ deployment: await testDeployment(), env: { PRIVATE_FETCH_HOSTS: site.host } });
  home = await openTenant(platform.url, await platform.organization());
});

const readyz = async (): Promise<string> => (await fetch(`${platform.url}/readyz`)).text();
async function jump(offset_ms: number): Promise<void> {
  shiftClock(offset_ms);
  await expect.poll(readyz, SOON).toContain('"clock":{"ok":false');
}
const inMs = (ms: number): string => new Date(real() + ms).toISOString();
const listFiles = ({ call }: { call: typeof home.key }) => call("GET", "/openai/v1/files");

test.each([HOUR_MS, -HOUR_MS])("keys and sessions end by PostgreSQL's time: %d ms", async (offset) => {
  const [lasting, ending] = [
    await home.newKey({ expires_at: inMs(HOUR_MS / 2) }),
    await home.newKey({ expires_at: inMs(3_000) }),
  ];
  expect((await listFiles(ending)).status).toBe(200);
  await jump(offset);
  expect((await listFiles(lasting)).status).toBe(200);
  expect((await home.owner("GET", "/auth/me")).status).toBe(200);
  await expect.poll(async () => (await listFiles(ending)).body?.error?.code, SOON).toBe("expired_api_key");
});

test.each([HOUR_MS, -HOUR_MS])("a running turn is answered if the clock jumps: %d ms", async (offset) => {
  const slow = say("/slow 4\n/say Hello", { model: "offline/scripted" });
  const answer = home.key("POST", "/openai/v1/chat/completions", slow);
  const running = () => platform.resources.db.query("select from read.turns where status = 'running'");
  await expect.poll(async () => (await running()).length, SOON).toBe(1);
  await jump(offset);
  const { status, body, text } = await answer;
  expect(status, text).toBe(200);
  expect(body.choices[0].finish_reason).toBe("stop");
});

test.each([HOUR_MS, -HOUR_MS])("a continued run starts a child run with its full time limit: %d ms", async (offset) => {
  const limits = { run_ttl_s: 120 };
  const child = await home.register(workflowSource("return 1;"), { limits });
  const parent = await home.register(
    workflowSource(
      `await ctx.runStep("hold", {});
         const child = await ctx.startRun(args.workflow, {});
         return ctx.waitForRun(child);`,
      `hold: async (_, ctx) => { await ctx.fetch("${site.url}/hold/it"); }`,
    ),
    { egress: [site.host] },
  );
  const run = await home.start(parent, { workflow: child.id });
  await site.requested("/hold/it");
  await jump(offset);
  site.release("/hold/it");
  const record = await home.untilOver(run);
  expect(record.result).toMatchObject({ status: "completed", result: 1 });
  const [created] = await platform.resources.db.query<{ data: string }>(
    "select data::text as data from log.events where type = 'RunCreated' and stream = $1",
    [`run-${record.child_runs[0].run_id}`],
  );
  const left = Date.parse(JSON.parse(created!.data).expires_at) - real();
  expect(left).toBeGreaterThan(60_000);
  expect(left).toBeLessThan(120_000);
});
