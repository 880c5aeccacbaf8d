import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toolSource } from "../tools/desk.ts";
import { openTwoTenants } from "../accounts/tenants.ts";

/* The tool in docs/tools.md can be saved unchanged, and its approval rules are accepted for an agent. */

const page = readFileSync(new URL("../../docs/tools.md", import.meta.url), "utf8");
const blockOf = (language: string): string => page.match(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``))![1]!;

const { home } = await openTwoTenants();

test("the tool in docs/tools.md can be saved with its grant, and has the description of its meta export", async () => {
  await home.secret("shop_key", "value");
  const body = { type: "tool", source: blockOf("ts"), grants: ["shop_key"] };
  const saved = await home.made(home.owner("POST", "/definitions", body));
  expect(saved).toMatchObject({ name: "stock", description: "How many pieces of an article are in stock." });
  expect(saved.parameters.required).toEqual(["sku"]);
  expect((await home.made(home.owner("POST", "/definitions/check", body))).fault).toBeNull();
});

test("the tool approval rules in docs/tools.md are accepted by an agent", async () => {
  for (const name of ["send_mail", "refund"])
    await home.made(home.owner("POST", "/definitions", { type: "tool", name, source: toolSource("return null;") }));
  const agent = await home.newAgent({ tools: ["send_mail", "refund"] });
  const { id } = (await home.made(home.owner("GET", "/auth/me"))).user;
  await home.made(home.owner("PUT", "/groups/finance", { members: [id] }));
  const [head = "", ...lines] = blockOf("json").split("\n");
  expect(head).toBe("PATCH /api/agents/{id}");
  const changed = await home.made(home.owner("PATCH", `/agents/${agent}`, JSON.parse(lines.join("\n"))));
  expect(changed.tool_approvals.send_mail.when).toBeNull();
  expect(changed.tool_approvals.refund).toMatchObject({
    when: { argument: "amount", above: 500 },
    self_approval: false,
    expires_in_seconds: 86_400,
  });
});
