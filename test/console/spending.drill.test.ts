import { expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { agreeToAll, HOSTILE, inspect, LONG_NAME, openConsole } from "./browser.ts";

/* Budgets, prices of models, and aliases. */

const { tenant, open } = await openConsole();

test("prices are set, also for a later date, filtered by address, and give requests and usage a cost", async () => {
  const page = await open("spending?section=prices");
  agreeToAll(page);
  await page.getByText("a new price changes no earlier request", { exact: false }).waitFor();
  await inspect(page, "prices");
  await page.getByLabel("Name of the model").fill("nothing has this name");
  await page.getByRole("heading", { name: "No model with a price has this name" }).waitFor();
  await inspect(page, "prices-empty");
  await page.getByLabel("Model", { exact: true }).fill("echo");
  await page.getByLabel("Input", { exact: true }).fill("1000");
  await page.getByLabel("Output", { exact: true }).fill("2000");
  await page.getByRole("button", { name: "Set price" }).click();
  await page.getByRole("alert").getByText("Model must be named provider/model").waitFor();
  await page.getByLabel("Model", { exact: true }).fill("offline/echo");
  await page.getByRole("button", { name: "Add a price" }).click();
  await page.getByLabel("Input", { exact: true }).nth(1).fill("3000");
  await page.getByLabel("Output", { exact: true }).nth(1).fill("4000");
  await page.getByLabel("From").nth(1).fill("2099-01-01");
  await page.getByRole("button", { name: "Set price" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("row", { name: "offline/echo" }).nth(1).getByText("$3,000.00").waitFor();
  expect((await tenant.made(tenant.owner("GET", "/prices/offline/echo"))).prices).toMatchObject([
    { input: "1000", valid_from: null },
    { input: "3000", valid_from: "2099-01-01T00:00:00.000Z" },
  ]);
  await page.getByRole("link", { name: "offline/echo" }).first().click();
  await page.getByRole("heading", { name: "What offline/echo costs" }).waitFor();
  await inspect(page, "prices-edit");
  await page.getByRole("button", { name: "Leave out price 2" }).click();
  await page.getByRole("button", { name: "Save prices" }).click();
  await expect.poll(() => page.getByRole("row", { name: "offline/echo" }).count(), SOON).toBe(1);
  const special = { input: "10", output: "20", cache_write: "12.5", reasoning: "30" };
  await tenant.made(tenant.owner("PUT", "/prices/offline/scripted", { prices: [special] }));
  await page.getByRole("row", { name: "offline/scripted" }).getByText("reasoning $30.00").waitFor();
  await page.getByRole("row", { name: "offline/scripted" }).getByText("to store $12.50").waitFor();
  await tenant.made(tenant.owner("DELETE", "/prices/offline/scripted"));
  await tenant.key("POST", "/openai/v1/chat/completions", say("What does this cost?"));
  await page.goto(`${tenant.url}/console/requests`);
  await page.getByRole("row", { name: "What does this cost?" }).getByText("$0.0").waitFor();
  await page.getByRole("link", { name: "What does this cost?" }).click();
  await page.getByText("Cost", { exact: true }).waitFor();
  await inspect(page, "request-cost");
  await page.goto(`${tenant.url}/console/usage`);
  await page.getByText(/\$[\d.]+ spent/).waitFor();
});

test("a published price stays listed until the first of the organization's own begins", async () => {
  const model = "openai/gpt-5-nano-2025-08-07";
  const prices = [{ input: "1000", output: "2000", valid_from: "2099-01-01T00:00:00Z" }];
  await tenant.made(tenant.owner("PUT", `/prices/${model}`, { prices }));
  const page = await open(`spending?section=prices&q=${model}`);
  await page.getByRole("row", { name: model }).getByText("known on").waitFor();
  await page.getByRole("row", { name: model }).getByText("$1,000.00").waitFor();
  expect(await page.getByRole("row", { name: model }).count()).toBe(2);
  await tenant.made(tenant.owner("DELETE", `/prices/${model}`));
});

test("a budget shows what is spent and left, warns, and is changed and removed", async () => {
  await tenant.made(tenant.owner("PUT", "/prices/offline/echo", { prices: [{ input: "1000", output: "2000" }] }));
  const { id, call } = await tenant.newKey({ name: `Key ${HOSTILE}` });
  await tenant.made(tenant.owner("POST", "/projects", { name: LONG_NAME }));
  const page = await open("spending");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no budgets" }).waitFor();
  await inspect(page, "budgets-empty");
  await page.getByRole("button", { name: "Set budget" }).click();
  await page.getByRole("alert").getByText("field cost_per_month").waitFor();
  await page.goto(`${tenant.url}/console/keys/${id}`);
  await page.getByRole("link", { name: "its budget" }).click();
  await page.getByLabel("Tokens a day").fill("5");
  await page.getByLabel("US dollars a month").fill("1000.5");
  await page.getByRole("button", { name: "Set budget" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("link", { name: `Key ${HOSTILE}` }).waitFor();
  await call("POST", "/openai/v1/chat/completions", say("This uses up what is left"));
  await expect
    .poll(async () => (await tenant.made(tenant.owner("GET", `/budgets/key:${id}`))).limits[0].percent, SOON)
    .toBeGreaterThan(100);
  const refused = async () => (await call("POST", "/openai/v1/chat/completions", say("Refused"))).status;
  await expect.poll(refused, SOON).toBe(402);
  await page.reload();
  await page.getByText("Used up:").waitFor();
  await page.getByText("used up", { exact: true }).waitFor();
  await inspect(page, "budgets");
  await page.goto(`${tenant.url}/console/`);
  await page.getByText("used up by 80 % or more").waitFor();
  await page.getByRole("link", { name: "1 budget" }).click();
  await page.getByText("Used up:").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "The budget of Key" }).waitFor();
  expect(await page.getByLabel("US dollars a month").inputValue()).toBe("1000.5");
  await page.getByLabel("Tokens a day").fill("");
  await page.getByLabel("Refuse at the limit").uncheck();
  await page.getByRole("button", { name: "Save budget" }).click();
  await page.getByText("warned only").waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "There are no budgets" }).waitFor();
  await page.getByLabel("Or one end user").fill("zoe@example.com");
  await page.getByLabel("Tokens a day").fill("7");
  await page.getByRole("button", { name: "Set budget" }).click();
  const row = page.getByRole("row", { name: "End user" });
  await row.waitFor();
  const ofUser = await tenant.made(tenant.owner("GET", "/budgets/user:zoe@example.com"));
  expect(ofUser.limits).toMatchObject([{ name: "tokens_per_day", limit: "7" }]);
  await inspect(page, "budgets-user");
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "There are no budgets" }).waitFor();
});

test("a budget of one model is listed beside the budget of all models, and a person sees what is left", async () => {
  const me = (await tenant.made(tenant.owner("GET", "/auth/me"))).user.id;
  const workflow = await tenant.register();
  const page = await open(`spending?edit=person:${me}`);
  agreeToAll(page);
  await page.getByLabel("US dollars in total").fill("20");
  await page.getByLabel("Requests a day").fill("9");
  await page.getByLabel("Run a workflow at 80 %").selectOption(workflow.id);
  await page.getByRole("button", { name: "Set budget" }).click();
  await page.getByText("Saved.").waitFor();
  await page.goto(`${tenant.url}/console/spending`);
  await page.getByLabel("Who spends").selectOption(`person:${me}`);
  await page.getByLabel("One model only").fill("offline/echo");
  await page.getByLabel("US dollars a week").fill("5");
  await page.getByRole("button", { name: "Set budget" }).click();
  const row = page.getByRole("row", { name: "for offline/echo" });
  await row.getByText("$5.00 left").waitFor();
  await inspect(page, "budgets-model");
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "for offline/echo" }).waitFor();
  expect(await page.getByLabel("Stored bytes").count()).toBe(0);
  await page.getByLabel("US dollars a week").fill("6");
  await page.getByRole("button", { name: "Save budget" }).click();
  await row.getByText("$6.00 left").waitFor();
  const { data } = await tenant.made(tenant.owner("GET", "/limits"));
  expect(data).toMatchObject([
    {
      model: null,
      workflow_id: workflow.id,
      limits: [{ name: "requests_per_day" }, { name: "cost_total", limit: "20" }],
    },
    { model: "offline/echo", limits: [{ name: "cost_per_week", limit: "6" }] },
  ]);
  await page.goto(`${tenant.url}/console/settings`);
  await page.getByRole("heading", { name: "What you may spend" }).waitFor();
  await page.getByText("You for offline/echo").waitFor();
  await page.getByText("$20.00 in total").waitFor();
  await inspect(page, "own-limits");
  for (const model of ["", "?model=offline/echo"]) await tenant.owner("DELETE", `/budgets/person:${me}${model}`);
  await page.reload();
  await page.getByText("No budget limits your requests.").waitFor();
});

test("limits per minute and of concurrent turns show the current use, and can be changed", async () => {
  const { id, call } = await tenant.newKey({ name: "Limited" });
  const page = await open(`spending?edit=key:${id}`);
  await page.getByLabel("Requests a minute").fill("2");
  await page.getByLabel("Requests at a time").fill("3");
  await page.getByRole("button", { name: "Set budget" }).click();
  const row = page.getByRole("row", { name: "Limited" });
  await row.getByText("requests in a minute (0 %)").waitFor();
  await row.getByText("3 free now").waitFor();
  await call("POST", "/openai/v1/chat/completions", say("One"));
  // live, without a reload
  await row.getByText("requests in a minute (50 %)").waitFor();
  await call("POST", "/openai/v1/chat/completions", say("Two"));
  await row.getByText("full at this moment").waitFor();
  await inspect(page, "budgets-rates");
  expect((await call("POST", "/openai/v1/chat/completions", say("Three"))).status).toBe(429);
  expect(await page.getByText("Little is left:").count()).toBe(0);
  await row.getByRole("link", { name: "Limited" }).click();
  await page.getByRole("heading", { name: "The budget of Limited" }).waitFor();
  expect(await page.getByLabel("Requests a minute").inputValue()).toBe("2");
  await page.getByLabel("Requests a minute").fill("");
  await page.getByLabel("Tokens a minute").fill("100000");
  await page.getByRole("button", { name: "Save budget" }).click();
  await row.getByText("tokens in a minute").waitFor();
  const names = async () =>
    (await tenant.made(tenant.owner("GET", `/budgets/key:${id}`))).limits.map(({ name }: { name: string }) => name);
  expect((await names()).toSorted()).toEqual(["concurrent_turns", "tokens_per_minute"]);
});

test("reserved money is shown", async () => {
  await tenant.made(tenant.owner("PUT", "/prices/offline/scripted", { prices: [{ input: "1000", output: "2000" }] }));
  const { id, call } = await tenant.newKey({ name: "Holds" });
  await tenant.made(tenant.owner("PUT", `/budgets/key:${id}`, { cost_per_day: "1000" }));
  const slow = { ...say("/slow 12\n/say Done"), model: "offline/scripted" };
  const answer = call("POST", "/openai/v1/chat/completions", slow);
  const held = async () => (await tenant.made(tenant.owner("GET", `/budgets/key:${id}`))).limits[0].reserved;
  await expect.poll(held, SOON).not.toBe("0");
  const page = await open("spending");
  await page.getByRole("row", { name: "Holds" }).getByText("held back for requests under way").waitFor();
  await inspect(page, "budgets-held");
  expect((await answer).status).toBe(200);
  await tenant.made(tenant.owner("DELETE", `/budgets/key:${id}`));
  await tenant.made(tenant.owner("DELETE", "/prices/offline/scripted"));
});

test("an alias is added with weights, changed and removed, and an invalid field is named", async () => {
  const page = await open("spending?section=aliases");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no aliases" }).waitFor();
  await inspect(page, "aliases-empty");
  await page.getByLabel("Name", { exact: true }).fill("fast");
  await page.getByLabel("Model", { exact: true }).first().fill("offline/nothing");
  await page.getByLabel("Model", { exact: true }).nth(1).fill("offline/echo");
  await page.getByRole("button", { name: "Add alias" }).click();
  await page.getByRole("alert").getByText("field targets[0].model").waitFor();
  await page.getByLabel("Model", { exact: true }).first().fill("offline/scripted");
  await page.getByLabel("Weight").first().fill("9");
  await page.getByLabel("Weight").nth(1).fill("1");
  await page.getByLabel("Other statuses").fill("418");
  await page.getByRole("button", { name: "Add alias" }).click();
  await page.getByRole("link", { name: "fast" }).click();
  await page.getByRole("heading", { name: "Change fast" }).waitFor();
  expect(await page.getByLabel("Other statuses").inputValue()).toBe("418");
  await page.getByRole("row", { name: "fast" }).getByText("5 failures, 3 minutes in all").waitFor();
  await inspect(page, "aliases");
  await page.getByRole("button", { name: "Leave out model 1" }).click();
  await page.getByRole("button", { name: "Save alias" }).click();
  await expect
    .poll(async () => (await tenant.made(tenant.owner("GET", "/aliases/fast"))).targets, SOON)
    .toEqual([{ model: "offline/echo", weight: 1 }]);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "There are no aliases" }).waitFor();
});

test("a used-up budget is reported in the chat, with the time of its reset and the people who can raise it", async () => {
  await tenant.made(tenant.owner("PUT", "/budgets/organization", { requests_per_day: 0 }));
  const page = await open("chat");
  await page.getByLabel("Question").fill("Hello");
  await page.keyboard.press("Enter");
  const refusal = page.getByRole("alert");
  await refusal.getByText(/^The budget of the organization has used \d+ of 0 requests/).waitFor();
  expect(await refusal.textContent()).not.toMatch(/T\d\d:\d\d/);
  await inspect(page, "chat-budget");
  await refusal.getByRole("link", { name: "Spending" }).click();
  await page.getByRole("heading", { name: "Spending", level: 1 }).waitFor();
  await tenant.owner("DELETE", "/budgets/organization");
});

test("a question that is refused because of reservations gets advice to try again, and the people who can raise the budget", async () => {
  const [models, price] = [["scripted", "echo"], { prices: [{ input: "1000", output: "2000" }] }];
  for (const model of models) await tenant.made(tenant.owner("PUT", `/prices/offline/${model}`, price));
  const limitTo = (cost_per_day: string) => tenant.made(tenant.owner("PUT", "/budgets/organization", { cost_per_day }));
  const held = async () => (await tenant.made(tenant.owner("GET", "/budgets/organization"))).limits[0].reserved;
  await limitTo("1000000");
  const slow = { ...say("/slow 20\n/say Done"), model: "offline/scripted" };
  const answer = tenant.key("POST", "/openai/v1/chat/completions", slow);
  await expect.poll(held, SOON).not.toBe("0");
  await limitTo(await held());
  const page = await open("chat");
  await page.getByLabel("Question").fill("Hello");
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/^The budget of the organization has .* are reserved .*requests under way/)
    .waitFor();
  await inspect(page, "chat-budget-held");
  await answer;
  await tenant.owner("DELETE", "/budgets/organization");
  for (const model of models) await tenant.made(tenant.owner("DELETE", `/prices/offline/${model}`));
});

test("a builder has no menu entry for spending, and the page names the administrators", async () => {
  const page = await open("spending", await tenant.member("builder"));
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  await inspect(page, "spending-refused");
});
