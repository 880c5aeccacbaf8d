import { expect, test } from "vitest";
import { HOSTILE, idIn, inspect, openConsole, PHONE } from "./browser.ts";

/* A builder names a tool that waits for people, somebody asks the agent, and an approver decides. */

const { tenant, open } = await openConsole();
const source = `export const meta = { description: "Pays.", parameters: { type: "object" } };
  export async function execute(args) { return { paid: args.amount }; }`;
await tenant.made(tenant.owner("POST", "/definitions", { type: "tool", name: "pay", source }));

test("an approval is shown in the agent's settings, in the waiting chat, in the inbox of an approver, and in the request", async () => {
  const agent = { name: `Payer ${HOSTILE}`, model: "offline/scripted", tools: ["pay"] };
  const { id } = await tenant.made(tenant.owner("POST", "/agents", agent));
  const builder = await open(`agents/${id}`);
  await builder.getByLabel("pay runs only after an approval").check();
  await builder.getByLabel("pay asks").selectOption("above");
  await builder.getByLabel("Argument of pay").fill("amount");
  await builder.getByLabel("Number for pay").fill("500");
  await builder.getByLabel("Who decides about pay").fill("role:approver");
  await builder.getByLabel("pay waits").fill("2 hours");
  await inspect(builder, "agent-approvals");
  await builder.getByRole("button", { name: "Save" }).click();
  await builder.getByText("Saved as version 2.").waitFor();
  const saved = await tenant.made(tenant.owner("GET", `/agents/${id}`));
  expect(saved.tool_approvals).toEqual({
    pay: {
      assignees: [{ role: "approver" }],
      self_approval: true,
      allow_api_key: false,
      expires_in_seconds: 7_200,
      when: { argument: "amount", above: 500 },
    },
  });
  await builder.reload();
  await expect.poll(() => builder.getByLabel("Number for pay").inputValue()).toBe("500");

  const approver = await tenant.member("approver");
  const inbox = await open("inbox", { email: approver.email, viewport: PHONE });
  await inbox.getByRole("heading", { name: "Nothing waits for you" }).waitFor();

  await builder.goto(`${tenant.url}/console/chat?with=${encodeURIComponent(`agent:${id}`)}`);
  await builder.getByLabel("Question").fill(`/tool pay ${JSON.stringify({ amount: 501, to: HOSTILE })}\n/say Paid.`);
  await builder.keyboard.press("Enter");
  await builder.getByText("Waits for a person").waitFor();
  await inspect(builder, "chat-waits");

  // without a reload
  await inbox.getByText("Run the tool pay").click();
  await inbox.getByRole("button", { name: "Approve" }).waitFor();
  await inbox.getByText("501").waitFor();
  await inspect(inbox, "approval-tool");
  await inbox.getByLabel("Comment").fill("Go on.");
  await inbox.getByRole("button", { name: "Approve" }).click();
  await inbox.getByText("Approved by").waitFor();

  await builder.locator(".answer", { hasText: "Paid." }).waitFor();
  await builder.getByRole("link", { name: "Why this answer?" }).click();
  await expect.poll(() => builder.url()).toContain("/console/requests/");
  await builder.getByText("all approvals are decided").waitFor();
  await builder.getByRole("link", { name: /^pay/ }).click();
  await builder.getByText("A person had to allow it").waitFor();
  await builder.getByText("Go on.").waitFor();
  await inspect(builder, "request-approved");
  expect(idIn(builder)).toMatch(/^[0-9a-f-]{36}$/);
});

test("a waiting request says so, with a link to its approval", async () => {
  const rule = { tools: ["pay"], tool_approvals: { pay: "always" } };
  const { id } = await tenant.made(
    tenant.owner("POST", "/agents", { name: "Asks", model: "offline/scripted", ...rule }),
  );
  const asked = fetch(`${tenant.url}/api/agents/${id}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" },
    body: JSON.stringify({ input: "/tool pay {}\n/say Done.", stream: true }),
  });
  const pending = async () => (await tenant.owner("GET", "/workflows/approvals?status=pending")).body.data[0];
  await expect.poll(pending).toBeDefined();
  const { tool_call } = await pending();
  const page = await open(`requests/${tool_call.response_id.replace("resp_", "")}`);
  await page.getByText("Waits for a person").waitFor();
  await inspect(page, "request-waits");
  await page.getByRole("link", { name: "may pay run?" }).click();
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("Rejected").first().waitFor();
  await page.getByRole("link", { name: "See the request that waits" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  await (await asked).text();
});
