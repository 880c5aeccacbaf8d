import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { say } from "../http/service.ts";
import { openTenant, SOON, workflowSource } from "../workflows/tenant.ts";
import { chargeDollar } from "./chargeDollar.ts";
import { openPeople } from "./people.ts";

/* Turns of runs are counted for who started the run, and for its external user (docs/spending.md). */

const people = await openPeople();

/** A workflow whose step asks a model once. */
const ASKING = `import { defineStep } from "svc:workflow";
${workflowSource(
  `return ctx.runStep("ask", {});`,
  `ask: defineStep({ retries: 0 }, async (_, ctx) =>
    (await ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] })).content)`,
)}`;
/** A workflow that starts another one and returns its result. */
const starting = (id: string) =>
  workflowSource(`const { result, error } = await ctx.waitForRun(await ctx.startRun("${id}", {}));
   return result ?? error;`);

async function newTenant() {
  const tenant = await openTenant(people.service.base, await people.service.organization("Runners"));
  const { owner, made, newKey, register, untilOver } = tenant;
  await chargeDollar(owner, "offline/echo");
  const key = await newKey();
  const workflow = await register(ASKING, { models: ["offline/echo"] });
  const by = async (name: string): Promise<any[]> => (await made(owner("GET", `/usage?group_by=${name}`))).data;
  return {
    ...tenant,
    key,
    workflow,
    set: (subject: string, limits: object) => made(owner("PUT", `/budgets/${subject}`, limits)),
    /** The result of the run, or its error. */
    async result(run: string): Promise<string> {
      const { result, error } = await untilOver(run);
      return result ?? JSON.stringify(error);
    },
    usageOf: async (name: string, group: string) => (await by(name)).find((row) => row[name] === group),
  };
}

describe("steps of a run", () => {
  test.for([{ cost_per_day: "1" }, { requests_per_day: 1 }])(
    "are refused if the key that started it has used up %o",
    async (limits) => {
      const { key, workflow, set, start, result, usageOf } = await newTenant();
      await set(`key:${key.id}`, limits);
      expect(await result(await start(workflow, {}, key.call))).toBe("Hi");
      expect(await usageOf("key", key.id)).toMatchObject({ turns: 1, cost: "1" });
      // requests are counted when they are in the read model
      const again = async () => result(await start(workflow, {}, key.call));
      await expect.poll(again, SOON).toContain(`The budget key:${key.id} has used`);
    },
  );

  test("use up the same budget as the key's own turns", async () => {
    const { newKey, workflow, set, start, result, made, owner, usageOf } = await newTenant();
    const { id, call } = await newKey();
    await set(`key:${id}`, { cost_per_day: "1" });
    expect(await result(await start(workflow, {}, call))).toBe("Hi");
    expectRefusal(await call("POST", "/openai/v1/chat/completions", say("Hi")), 402, "budget_exceeded");
    // other spenders are not affected
    const me = (await made(owner("GET", "/auth/me"))).user.id;
    expect(await result(await start(workflow))).toBe("Hi");
    expect(await usageOf("person", me)).toMatchObject({ turns: 1, cost: "1" });
  });

  test("of a child run count for the caller who started the first run", async () => {
    const { key, workflow, register, start, result, set, usageOf } = await newTenant();
    await set(`key:${key.id}`, { cost_per_day: "1" });
    const parent = await register(starting(workflow.id));
    expect(await result(await start(parent, {}, key.call))).toBe("Hi");
    expect(await usageOf("key", key.id)).toMatchObject({ turns: 1, cost: "1" });
    expect(await result(await start(parent, {}, key.call))).toContain(`key:${key.id}`);
  });

  test("count for the external user, also in child runs", async () => {
    const { workflow, register, hook, caller, made, set, result, usageOf } = await newTenant();
    await set("each-user", { cost_per_day: "2" });
    const [direct, parent] = [await hook(workflow), await hook(await register(starting(workflow.id)))];
    const startFor = async (by: typeof direct, user: string): Promise<string> => {
      const headers = { "x-svc-external-user": user };
      return (await made(caller(by)("POST", `/workflows/hooks/${by.hook_token}`, {}, headers))).run_id;
    };
    expect(await result(await startFor(direct, "ada"))).toBe("Hi");
    expect(await result(await startFor(parent, "ada"))).toBe("Hi");
    expect(await usageOf("user", "ada")).toMatchObject({ turns: 2, cost: "2" });
    expect(await result(await startFor(direct, "ada"))).toContain("each-user has used 2 of 2");
    expect(await result(await startFor(parent, "ada"))).toContain("each-user has used 2 of 2");
    expect(await result(await startFor(direct, "bob"))).toBe("Hi");
  });

  test("that ask an agent count for the key", async () => {
    const { key, newAgent, register, start, result, set, usageOf } = await newTenant();
    await set(`key:${key.id}`, { requests_per_day: 1 });
    const agent = await newAgent();
    const source = workflowSource(`return (await ctx.agent("${agent}", "Hi")).output_text;`);
    const workflow = await register(source, { models: ["offline/echo"], agents: ["*"] });
    await result(await start(workflow, {}, key.call));
    expect(await usageOf("key", key.id)).toMatchObject({ turns: 1 });
    await expect.poll(async () => result(await start(workflow, {}, key.call)), SOON).toContain(`key:${key.id}`);
  });
});
