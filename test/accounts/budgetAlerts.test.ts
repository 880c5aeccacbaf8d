import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf, say } from "../http/service.ts";
import { openTenant, SOON, UNKNOWN, workflowSource } from "../workflows/tenant.ts";
import { readAllEvents } from "./audit.ts";
import { chargeDollar } from "./chargeDollar.ts";
import { openPeople } from "./people.ts";

/* A budget that is reached starts a run, which can alert people (docs/spending.md). */

const people = await openPeople();

async function newTenant() {
  const credentials = await people.service.organization("Alerted");
  const tenant = await openTenant(people.service.base, credentials);
  await chargeDollar(tenant.owner, "offline/echo");
  const first = clientOf(people.service, credentials.api_key);
  const set = (subject: string, body: object) => tenant.owner("PUT", `/budgets/${subject}`, body);
  const runsOf = async (id: string): Promise<any[]> =>
    (await tenant.made(tenant.owner("GET", `/workflows/runs?workflow_id=${id}`))).data;
  return { ...tenant, set, runsOf, ask: () => first("POST", "/chat/completions", say("Hi")) };
}
const ECHO_ARGS = workflowSource("return args;");

test("a budget alert starts one run per threshold, on behalf of the person who set the alert", async () => {
  const { owner, made, register, set, runsOf, ask } = await newTenant();
  const workflow = await register(ECHO_ARGS);
  const body = { cost_per_month: "5", hard: false, workflow_id: workflow.id };
  expect((await set("organization", body)).body).toMatchObject({ workflow_id: workflow.id });
  const ended = async () => (await runsOf(workflow.id)).filter(({ status }) => status === "completed");
  const results = async () =>
    Promise.all((await ended()).map(async ({ id }) => (await made(owner("GET", `/workflows/runs/${id}`))).result));
  await expect.poll(async () => (await ask(), (await results()).map(({ percent }) => percent)), SOON).toContain(100);
  const reached = (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
  await expect.poll(async () => (await ended()).length, SOON).toBe(reached.length);
  const [run] = await runsOf(workflow.id);
  const { result, started_by } = await made(owner("GET", `/workflows/runs/${run.id}`));
  expect(result).toMatchObject({
    subject: "organization",
    model: null,
    limit: "cost_per_month",
    period: expect.stringMatching(/^\d{4}-\d\d$/),
    percent: expect.toSatisfy((percent: number) => percent === 80 || percent === 100),
    at_most: "5",
  });
  expect(started_by).toMatchObject({ type: "system", id: "budget" });
  const me = (await made(owner("GET", "/auth/me"))).user.id;
  const created = (await readAllEvents(owner)).find(
    ({ type, data }: any) => type === "RunCreated" && data.run_id === run.id,
  );
  expect(created?.data).toMatchObject({ trigger_set_by: { type: "person", id: me } });
});

test("a budget still limits if its alert workflow cannot start, and a budget without a workflow sends no alert", async () => {
  const { owner, made, register, set, runsOf, ask } = await newTenant();
  const [disabled, last] = [await register(ECHO_ARGS), await register(ECHO_ARGS)];
  await made(owner("PATCH", `/workflows/${disabled.id}`, { enabled: false }));
  await set("organization", { cost_per_day: "1", workflow_id: disabled.id });
  await expect.poll(async () => (await ask()).status, SOON).toBe(402);
  expect((await set("organization", { cost_per_week: "1" })).body).toMatchObject({ workflow_id: null });
  await set("organization", { cost_per_month: "1", workflow_id: last.id });
  // reactions come in the order of the log
  await expect.poll(async () => (await runsOf(last.id)).length, SOON).toBe(1);
  expect(await runsOf(disabled.id)).toEqual([]);
});

test("a budget that is removed and set again in its period starts a run again", async () => {
  const { owner, register, set, runsOf, ask } = await newTenant();
  const workflow = await register(ECHO_ARGS);
  const body = { cost_per_month: "1", workflow_id: workflow.id };
  await set("organization", body);
  await expect.poll(async () => (await ask()).status, SOON).toBe(402);
  await expect.poll(async () => (await runsOf(workflow.id)).length, SOON).toBe(1);
  expect((await owner("DELETE", "/budgets/organization")).status).toBe(204);
  await set("organization", body);
  await expect.poll(async () => (await runsOf(workflow.id)).length, SOON).toBe(2);
});

test("a workflow that does not exist, belongs to another organization, or is set for each-user is refused", async () => {
  const [ours, theirs] = [await newTenant(), await newTenant()];
  const foreign = await theirs.register(ECHO_ARGS);
  for (const workflow_id of [UNKNOWN, foreign.id])
    expectRefusal(
      await ours.set("organization", { cost_per_day: "1", workflow_id }),
      404,
      "workflow_not_found",
      "workflow_id",
    );
  expectRefusal(await ours.set("organization", { cost_per_day: "1", workflow_id: "x" }), 400, undefined, "workflow_id");
  const own = await ours.register(ECHO_ARGS);
  expectRefusal(await ours.set("each-user", { cost_per_day: "1", workflow_id: own.id }), 400, undefined, "workflow_id");
});
