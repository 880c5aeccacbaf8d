import { afterAll, describe, expect, test } from "vitest";
import { chargeDollar } from "../accounts/chargeDollar.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openPayDesk, payTo, responses } from "./payDesk.ts";

/* What turns that wait for a person hold of budgets and limits (docs/spending.md). */

const desk = await openPayDesk();
await chargeDollar(desk.person.call, "offline/scripted");
afterAll(() => desk.site.close());

/** An agent with a limit of its own, and how far that is used. */
async function limitedPayer(limits: object) {
  const agent = await desk.payer();
  const path = `/budgets/agent:${agent.id}`;
  const { status, text } = await desk.person.call("PUT", path, limits);
  expect(status, text).toBe(200);
  const limit = async () => (await desk.person.call("GET", path)).body.limits[0];
  return { agent, limit };
}

describe("a turn that waits for a person", () => {
  test("reserves no money, and its next request is refused if the budget has no room left", async () => {
    const { agent, limit } = await limitedPayer({ cost_total: "2" });
    const { id, approvals } = await desk.startWaiting(agent, payTo("amy"));
    expect(await limit()).toMatchObject({ spent: "1", reserved: "0" });
    await agent.ask("/say Meanwhile.");
    expect(await limit()).toMatchObject({ spent: "2", reserved: "0" });
    await desk.decide(approvals[0].id, "approve");
    const response = await responses.ended(agent, id);
    expect(response).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("has used 2 of 2 US dollars") },
    });
    expect(desk.paid("amy")).toBe(1);
    expect(await limit()).toMatchObject({ spent: "2", reserved: "0" });
  });

  test("reserves the money of its next request when it continues", async () => {
    const { agent, limit } = await limitedPayer({ cost_total: "2" });
    const { id, approvals } = await desk.startWaiting(agent, payTo("ben").replace("/say", "/slow 2\n/say"));
    expect(await limit()).toMatchObject({ spent: "1", reserved: "0" });
    await desk.decide(approvals[0].id, "approve");
    await expect.poll(async () => (await limit()).reserved).toBe("1");
    expectRefusal(await agent.post({ input: "Hi" }), 429, "budget_reserved");
    expect((await responses.ended(agent, id)).status).toBe("completed");
    expect(await limit()).toMatchObject({ spent: "2", reserved: "0" });
  });

  test("does not count as a running turn, and counts again when it continues, even above the limit", async () => {
    const { agent, limit } = await limitedPayer({ concurrent_turns: 1 });
    const { id, approvals } = await desk.startWaiting(agent, payTo("cay").replace("/say", "/slow 6\n/say"));
    expect(await limit()).toMatchObject({ spent: "0" });
    const other = agent.ask("/slow 4\n/say Meanwhile.");
    await expect.poll(async () => (await limit()).spent).toBe("1");
    await desk.decide(approvals[0].id, "approve");
    await expect.poll(async () => (await limit()).spent).toBe("2");
    await other;
    expectRefusal(await agent.post({ input: "Hi" }), 429, "rate_limited");
    expect((await responses.ended(agent, id)).status).toBe("completed");
    await expect.poll(async () => (await agent.post({ input: "/say Hi" })).status).toBe(200);
  });
});
