import { expect, test } from "vitest";
import { openWorkflows, workflowSource } from "./harness.ts";

/* Promise.race and its like over calls of run(), as people and other systems answer them. */

const w = await openWorkflows();
const { home } = w;

const BOSS = 'ctx.awaitApproval("boss", { title: "Go?" }).then(({ approved }) => ({ approved }))';

test("a timer wins against an approval, which stays open until the run ends and then changes nothing", async () => {
  const source = workflowSource(`const winner = await Promise.race([${BOSS}, ctx.sleep(50).then(() => "late")]);
await ctx.awaitApproval("next", { title: winner });
return winner;`);
  const workflow = await home.register(source);
  const [run, other] = [await home.start(workflow), await home.start(workflow)];
  const names = async (id: string) => (await home.pending(id, 2)).map(({ name }) => name);
  expect([await names(run), await names(other)]).toEqual([
    ["boss", "next"],
    ["boss", "next"],
  ]);
  const [boss, next] = await home.pending(run, 2);
  await home.decide(boss);
  expect((await home.decide(next)).status).toBe(200);
  const record = await home.untilOver(run);
  expect([record.status, record.result, record.warnings]).toEqual(["completed", "late", []]);
  await home.decide((await home.pending(other, 2))[1]);
  expect((await home.untilOver(other)).result).toBe("late");
  expect((await home.approvals(other)).map(({ status }) => status)).toEqual(["cancelled", "approved"]);
});

test("an event wins against a timer, and the second of two approvals against the first", async () => {
  const paid = workflowSource(
    'return Promise.race([ctx.sleep("1d"), ctx.waitForEvent("paid").then(({ data }) => data.amount)]);',
  );
  const run = await home.start(await home.register(paid));
  await home.until(run, ({ waiting_on }) => waiting_on.some(({ type }: any) => type === "event"));
  await home.made(home.owner("POST", "/workflows/events", { name: "paid", data: { amount: 5 } }));
  expect((await home.untilOver(run)).result).toBe(5);

  const two = workflowSource(
    `return Promise.race([${BOSS}, ctx.awaitApproval("lead", { title: "Go?" }).then(() => "lead")]);`,
  );
  const asked = await home.start(await home.register(two));
  await home.decide((await home.pending(asked, 2)).find(({ name }) => name === "lead"));
  expect((await home.untilOver(asked)).result).toBe("lead");
});

test("Promise.all fails with the first branch that does, while others wait", async () => {
  const source = `const must = ({ approved }) => { if (!approved) throw new Error("refused"); };
${workflowSource(`const asks = (name) => ctx.awaitApproval(name, { title: name }).then(must);
await Promise.all([asks("legal"), asks("finance")]);`)}`;
  const run = await home.start(await home.register(source));
  const finance = (await home.pending(run, 2)).find(({ name }) => name === "finance");
  await home.decide(finance, "reject");
  const record = await home.untilOver(run);
  expect([record.status, record.error, record.warnings]).toEqual(["failed", "refused", []]);
  expect((await home.approvals(run)).map(({ name, status }) => [name, status]).toSorted()).toEqual([
    ["finance", "rejected"],
    ["legal", "cancelled"],
  ]);
});

test("a check of a new version replays a race in the recorded order of answers", async () => {
  const source = workflowSource(`const winner = await Promise.race([${BOSS}, ctx.sleep(20).then(() => "late")]);
await ctx.awaitApproval("next", { title: "Next?" });
return winner;`);
  const workflow = await home.register(source);
  const run = await home.start(workflow);
  const [boss, next] = await home.pending(run, 2);
  await home.decide(boss);
  await home.decide(next);
  await home.untilOver(run);
  const path = `/definitions/${workflow.definition.id}/check-runs`;
  const checked = await home.made(home.owner("POST", path, { source: `${source}// changed\n` }));
  expect([checked.checked, checked.same]).toEqual([1, 1]);
});

test("the winner of a race also wins in a retry, without a new approval or step", async () => {
  const lead = 'ctx.awaitApproval("lead", { title: "Go?" }).then(() => "lead")';
  const source = `import { defineStep } from "svc:workflow";
const post = async ({ url }, ctx) => {
  if (!(await ctx.fetch(url, { method: "POST", body: "{}" })).ok) throw new Error("no money");
};
export const steps = { book: post, pay: defineStep({ retries: 0 }, post) };
export async function run(ctx, { url }) {
  const winner = await Promise.race([${BOSS}, ${lead}]);
  await ctx.runStep("book", { url: url + "/book", winner });
  await ctx.awaitApproval("next", { title: "Next?" });
  await ctx.runStep("pay", { url: url + "/pay" });
  return winner;
}`;
  const path = `/race${Date.now()}`;
  w.site.fail(`${path}/pay`);
  const run = await home.start(await home.register(source, w.egress), { url: w.site.url + path });
  const named = async (count: number, wanted: string) =>
    (await home.pending(run, count)).find(({ name }) => name === wanted);
  await home.decide(await named(2, "lead"));
  const next = await named(2, "next");
  await home.decide(await named(2, "boss"));
  await home.decide(next);
  expect((await home.untilOver(run)).status).toBe("failed");
  w.site.repair(`${path}/pay`);
  const { id } = await home.made(home.owner("POST", `/workflows/runs/${run}/retry`));
  const retried = await home.untilOver(id);
  expect([retried.status, retried.result, w.site.times(`${path}/book`)]).toEqual(["completed", "lead", 1]);
});
