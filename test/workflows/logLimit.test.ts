import { expect, test } from "vitest";
import { MAX_ERASURES_BEYOND_LIMIT } from "#http/auth/throttle.ts";
import { say } from "../http/service.ts";
import { code, openWorkflows, SOON, UNKNOWN, WAITING, workflowSource, type Workflows } from "./harness.ts";

/* An organization whose events take more than ORGANIZATION_LOG_MEGABYTES: its new work is refused, and nobody else's. */

type Tenant = Workflows["home"];
const KILOBYTES_EACH = 100;
const BYTES = 2_000_000;
const FULL = [413, "storage_limit_reached"];

const w = await openWorkflows({ ORGANIZATION_LOG_MEGABYTES: "2", SCHEDULE_SECONDS: "1" });
const full = w.home;

const turnOf = ({ key }: Tenant, text = "Hello") => key("POST", "/openai/v1/chat/completions", say(text));

/** Sets how much the events of an organization take, and waits until the service has noticed. */
async function setBytes({ organization_id, owner }: Tenant, bytes: number, message: string): Promise<void> {
  const told = async () => {
    // again, because events that are counted later add to it
    await w.resources.db.query(
      `insert into ops.log_bytes (organization_id, bytes) values ($1, $2)
       on conflict (organization_id) do update set bytes = excluded.bytes`,
      [organization_id, bytes],
    );
    return (await owner("POST", "/projects", { name: "P" })).body.error?.message;
  };
  await expect.poll(told, { ...SOON, interval: 500 }).toContain(message);
}

/** Fills the log until the organization is refused. */
async function fill(tenant: Tenant): Promise<void> {
  // the question and its answer are events
  for (let n = 0; n < 16; n++) {
    const { status } = await turnOf(tenant, "x".repeat(KILOBYTES_EACH * 1_000));
    if (status === 413) break;
    expect(status).toBe(200);
  }
  await expect.poll(async () => code(await turnOf(tenant)), { ...SOON, interval: 500 }).toEqual(FULL);
  // by little, because more has another effect
  await setBytes(tenant, BYTES * 1.01, "no new work is accepted");
}

/** Waits for an approval, and then does what new work would. */
const BUSY = workflowSource(
  `await ctx.awaitApproval("go", { title: "Go?" });
if (args.what === "continue") return ctx.continueAs({ what: "nothing" });
if (args.what === "child") return ctx.startRun(args.child);
if (args.what === "ask") return ctx.runStep("ask", {});
return 1;`,
  `ask: defineStep({ retries: 0 }, async (_, ctx) =>
    ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hello" }] }))`,
);

test("new work of an organization with too many events is refused, and everything else goes on", async () => {
  const [waiting, busy] = [await full.register(WAITING), await full.register(BUSY, { models: ["offline/echo"] })];
  const cancelled = await full.start(waiting);
  const runs: string[] = [];
  for (const what of ["continue", "child", "ask", "nothing"])
    runs.push(await full.start(busy, { what, child: waiting.id }));
  const approvals = [];
  for (const run of runs) approvals.push((await full.pending(run))[0]);
  const hook = await full.hook(waiting);
  const file = await full.upload("Words.", full.key);
  const { headers } = await turnOf(full);
  const schedule = { name: "S", schedule: { every: 1 }, args: {} };
  const quick = await full.register(workflowSource("return 1;"));
  const triggers = `/workflows/${quick.id}/triggers`;
  const { id: trigger } = await full.made(full.owner("POST", triggers, schedule));
  await fill(full);

  expect(code(await full.owner("POST", `/workflows/${waiting.id}/runs`, { args: {} }))).toEqual(FULL);
  expect(code(await full.owner("POST", "/workflows/events", { name: "e", data: {} }))).toEqual(FULL);
  expect(code(await full.owner("PATCH", `/workflows/${waiting.id}`, { name: "Renamed" }))).toEqual(FULL);
  expect(code(await full.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, {}))).toEqual(FULL);
  const retries = { action: "retry", filter: { status: "failed" }, dry_run: false };
  expect(code(await full.owner("POST", "/workflows/runs/change", retries))).toEqual(FULL);
  const refusals = () =>
    w.resources.db.query<{ code: string }>(
      "select data::json ->> 'code' as code from log.events where stream = $1 and type = 'ScheduledRunRefused'",
      [`trigger-${trigger}`],
    );
  await expect.poll(async () => (await refusals()).map((each) => each.code), SOON).toEqual(["storage_limit_reached"]);

  for (const approval of approvals) expect((await full.decide(approval)).status).toBe(200);
  const ended = [];
  for (const run of runs) ended.push(await full.untilOver(run));
  const [continued, child, ask, nothing] = ended;
  expect([continued.error_info.code, child.error_info.code]).toEqual([FULL[1], FULL[1]]);
  expect(ask.error).toContain("ORGANIZATION_LOG_MEGABYTES");
  expect([nothing.status, nothing.result]).toEqual(["completed", 1]);
  expect((await full.cancel(cancelled)).status).toBeLessThan(300);
  expect((await full.untilOver(cancelled)).status).toBe("cancelled");
  const thread = `/openai/v1/threads/${headers.get("x-thread-id")}`;
  expect((await full.key("GET", `${thread}/messages`)).body.data.length).toBe(2);
  for (const path of [thread, `/openai/v1/files/${file}`]) expect((await full.key("DELETE", path)).status).toBe(200);
  expect((await full.owner("POST", "/erasures", { owner: `key:${UNKNOWN}` })).status).toBeLessThan(300);
  // a due time every second, of which only the first is recorded
  expect((await refusals()).length).toBe(1);
  expect((await full.owner("DELETE", `${triggers}/${trigger}`)).status).toBeLessThan(300);
  const metrics = await (await fetch(`${w.url}/metrics`)).text();
  expect(metrics).toContain("organizations_over_log_limit 1\n");
});

test("an organization that takes 10 % more than it may only deletes, erases, ends and takes access away", async () => {
  const far = await w.join("Far");
  const workflow = await far.register(WAITING);
  const run = await far.start(workflow);
  const [approval] = await far.pending(run);
  const key = await far.newKey();
  const member = await far.member("builder");
  const at = `/workflows/${workflow.id}`;
  const schedule = await far.made(far.owner("POST", `${at}/triggers`, { schedule: { every: 3_600 }, args: {} }));
  await setBytes(far, BYTES * 1.2, "10 % more");
  const refused: [string, string, object?][] = [
    ["PATCH", `/keys/${key.id}`, { name: "Other" }],
    ["POST", `/keys/${key.id}/rotate`],
    ["PATCH", `/members/${member.id}`, { name: "Other" }],
    ["POST", `/workflows/approvals/${approval.id}/decision`, { decision: "approve" }],
    ["PATCH", at, { enabled: false, name: "Other" }],
    ["PATCH", `${at}/triggers/${schedule.id}`, { paused: false }],
  ];
  for (const [method, path, body] of refused) expect(code(await far.owner(method, path, body)), path).toEqual(FULL);
  const allowed: [string, string, object?][] = [
    ["PATCH", `/members/${member.id}`, { active: false }],
    ["PATCH", `${at}/triggers/${schedule.id}`, { paused: true }],
    ["PATCH", at, { enabled: false }],
    ["PUT", "/tools/scripted", { enabled: false }],
    ["POST", `/workflows/runs/${run}/cancel`],
    ["DELETE", `/members/${member.id}/substitute`],
    ["DELETE", `/members/${member.id}`],
    ["DELETE", `/keys/${key.id}`],
  ];
  for (const [method, path, body] of allowed) await far.made(far.owner(method, path, body));
  const erase = async () => (await far.owner("POST", "/erasures", { owner: `key:${UNKNOWN}` })).status;
  for (let n = 0; n < MAX_ERASURES_BEYOND_LIMIT; n++) expect(await erase()).toBe(202);
  expect(await erase()).toBe(429);
  const signIns = [];
  for (let n = 0; n < 4; n++)
    signIns.push((await far.clientAt("none")("POST", "/auth/login", far.credentials.admin)).status);
  expect(signIns).toEqual([200, 200, 200, 429]);
  await far.made(far.owner("POST", "/auth/logout"));
  expect((await far.owner("GET", "/auth/me")).status).toBe(401);
});

test("another organization is not affected", async () => {
  const other = await w.join("Other");
  expect((await turnOf(other)).status).toBe(200);
  expect((await other.run(workflowSource("return 1;"))).status).toBe("completed");
});

test("long arguments and results of a run are counted", async () => {
  const other = await w.join("Third");
  const count = async (): Promise<number> => {
    const [row] = await w.resources.db.query<{ bytes: number }>(
      "select coalesce(sum(bytes), 0)::int as bytes from read.run_values where organization_id = $1",
      [other.organization_id],
    );
    return row!.bytes;
  };
  const source = workflowSource("return ctx.runStep('repeat', args);", `repeat: async (args) => args.text + args.text`);
  const run = await other.start(await other.register(source), { text: "x".repeat(50_000) });
  expect((await other.untilOver(run)).status).toBe("completed");
  // its arguments, the same as the step's, the step's result, and the run's
  await expect.poll(count, SOON).toBeGreaterThan(250_000);
});
