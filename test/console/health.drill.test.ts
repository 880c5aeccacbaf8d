import { expect, test } from "vitest";
import { openTenant, SOON } from "../workflows/tenant.ts";
import { loseCommand } from "../bus/loseCommand.ts";
import { agreeToAll, inspect, openConsole } from "./browser.ts";

/* The Health screen: what it shows an operator, and the actions that it offers. */

const { tenant, open, service } = await openConsole();

const letters = async (by = tenant) => (await by.made(by.owner("GET", "/dead-letters"))).data;

test("the health page lists every part and process; a dead letter appears, is sent again, and is removed", async () => {
  const page = await open("health");
  agreeToAll(page);
  await page.getByText("The service takes requests.").waitFor();
  await page.getByRole("row", { name: "postgres" }).waitFor();
  await page.getByText(/read models follow the log/).click();
  await page.getByRole("row", { name: "projection usage" }).first().getByText("behind").waitFor();
  await page.getByText("None: every command").waitFor();
  await inspect(page, "health");
  await loseCommand(service.opened, tenant.organization_id);
  await expect.poll(async () => (await letters()).length, SOON).toBe(1);
  const [first] = await letters();
  expect(first).toMatchObject({ kind: "command", reason: "undecodable", type: null });
  await page.getByRole("button", { name: "Send again" }).click();
  await expect.poll(async () => (await letters())[0]?.seq > first.seq, SOON).toBe(true);
  await inspect(page, "health-dead-letter");
  const other = await openTenant(service.base, await service.organization("Other"));
  expect(await letters(other)).toEqual([]);
  const [second] = await letters();
  expect((await other.owner("DELETE", `/dead-letters/${second.seq}`)).body.error.code).toBe("dead_letter_not_found");
  expect((await other.owner("POST", `/dead-letters/${second.seq}/replay`)).status).toBe(404);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByText("None: every command").waitFor();
  expect(await letters()).toEqual([]);
});

test("the models of an alias are shown with their failures, the start of the failures, and the time of the next try", async () => {
  const alias = { targets: [{ model: "offline/scripted" }, { model: "offline/echo" }] };
  await tenant.made(tenant.owner("PUT", "/aliases/fast", alias));
  const page = await open("health");
  const row = page.getByRole("row", { name: "offline/scripted" });
  await row.getByText("is asked", { exact: true }).waitFor();
  const body = { model: "fast", messages: [{ role: "user", content: "/fail 503" }] };
  const targets = async () => (await tenant.made(tenant.owner("GET", "/health"))).targets;
  await expect
    .poll(async () => {
      expect((await tenant.key("POST", "/openai/v1/chat/completions", body)).status).toBe(200);
      return (await targets()).find(({ target }: any) => target === "offline/scripted").state;
    }, SOON)
    .toBe("open");
  const [echo, scripted] = await targets();
  expect(echo).toMatchObject({ target: "offline/echo", state: "closed", failures: 0, last_error: null });
  expect(scripted).toMatchObject({ aliases: ["fast"], open_in: 1, last_error: "503" });
  expect(Date.parse(scripted.retry_at)).toBeGreaterThan(Date.parse(scripted.since));
  await row.getByText("in 1 process").waitFor();
  await row.getByText("503").waitFor();
  await inspect(page, "health-targets");
});

test("a directly named model is shown once it has failed, but only to the organization that used it", async () => {
  const other = await openTenant(service.base, await service.organization("Without aliases"));
  const targets = async () => (await other.made(other.owner("GET", "/health"))).targets;
  expect(await targets()).toEqual([]);
  const body = { model: "offline/scripted", messages: [{ role: "user", content: "/fail 503" }] };
  expect((await other.key("POST", "/openai/v1/chat/completions", body)).status).toBe(502);
  expect(await targets()).toMatchObject([{ target: "offline/scripted", aliases: [], failures: 1, last_error: "503" }]);
});

test("a builder has no menu entry for the health of the service", async () => {
  const page = await open("health", await tenant.member("builder"));
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  await inspect(page, "health-refused");
});
