import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { linkHash, type ChainedRow } from "#infra/postgres/verify.ts";
import { HOSTILE, inspect, openConsole } from "./browser.ts";

/* An operator's way through the log. */

const { tenant, open, service } = await openConsole();

test("the log describes what happened, is filtered by address, and shows every field of an event", async () => {
  const answer = await tenant.key("POST", "/openai/v1/chat/completions", say(`Hello ${HOSTILE}`));
  await tenant.made(tenant.owner("POST", "/keys", { name: `Key ${HOSTILE}` }));
  const stream = `thread-${answer.headers.get("x-thread-id")}`;
  const page = await open("log");
  await page.getByText("offline/echo answered (stop).").waitFor();
  await page.getByText(`The API key “Key ${HOSTILE}”`).waitFor();
  await inspect(page, "log");
  await page.getByLabel("Stream").fill(stream);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(2);
  await page.getByLabel("Type").selectOption("TurnStarted");
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(1);
  await page.reload();
  await page.locator("main [data-row]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("Hello <img src=x").waitFor();
  await page.getByRole("link", { name: answer.headers.get("x-request-id")! }).waitFor();
  await inspect(page, "log-event");
  await page.getByRole("link", { name: "Open the request" }).click();
  await page.getByRole("heading", { name: "Prompt" }).waitFor();
  await page.getByRole("link", { name: "See the log of its conversation" }).click();
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(2);
  await page.getByLabel("Stream").fill("nonsense");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("field stream").waitFor();
});

test("the log can be filtered by one person, from member pages and from every event", async () => {
  const { id, email, password } = await tenant.made(
    tenant.owner("POST", "/members", { email: "doer@example.org", name: `Dora ${HOSTILE}`, role: "builder" }),
  );
  const { call } = await signIn(tenant.url, { email, password });
  await tenant.made(call("PUT", "/secrets/OF_DORA", { value: "a secret value" }));
  await tenant.secret("OF_OWNER", "a secret value");
  const page = await open(`members/${id}`);
  await page.getByRole("link", { name: "what they did" }).click();
  await page.getByText("The secret “OF_DORA” got a value.").waitFor();
  expect(await page.getByText("OF_OWNER").count()).toBe(0);
  expect(await page.getByLabel("Caused by").inputValue()).toBe(`person:${id}`);
  await inspect(page, "log-of-person");
  await page.getByLabel("Type").selectOption("SecretSet");
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(1);
  await page.getByText("1 event, a bar for").waitFor();
  // the address alone shows it, also after the person was removed
  await tenant.owner("DELETE", `/members/${id}`);
  await page.reload();
  await page.getByText("The secret “OF_DORA” got a value.").waitFor();
  await page.getByRole("option", { name: new RegExp(`^former .*${id.slice(-8)}`) }).waitFor({ state: "attached" });
  await page.getByLabel("Caused by").selectOption("");
  await page.getByText("The secret “OF_OWNER” got a value.").click();
  await page.getByRole("link", { name: "all that they did" }).click();
  await expect.poll(() => page.getByText("OF_DORA").count(), SOON).toBe(0);
  expect(new URL(page.url()).searchParams.get("who")).toMatch(/^person:/);
});

test("rows stay in place until a person shows new ones or follows the log", async () => {
  const page = await open("log?type=ProjectCreated");
  await page.getByRole("heading", { name: "No event matches" }).waitFor();
  await inspect(page, "log-empty");
  await tenant.project("First");
  await page.getByRole("button", { name: "Show 1 new event" }).click();
  await page.getByText("The project “First” was created.").waitFor();
  await tenant.project("Between");
  await page.getByRole("button", { name: "Show 1 new event" }).waitFor();
  // as after a look at another tab
  await Promise.all([
    page.waitForResponse("**/api/auth/me"),
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))"),
  ]);
  await page.getByRole("button", { name: "Show 1 new event" }).waitFor();
  expect(await page.locator("li.step").count()).toBe(1);
  await page.getByLabel("Follow live").click();
  await expect.poll(() => page.url(), SOON).toContain("follow=true");
  await tenant.project("Second");
  await page.getByText("The project “Second” was created.").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).personal.name)).toEqual(["First", "Between", "Second"]);
});

test("bars show when events happened and lead to them, and scrolling loads older events", async () => {
  const stream = `project-${(await tenant.project("Renamed")).id}`;
  const id = stream.slice("project-".length);
  for (let n = 0; n < 130; n++) await tenant.made(tenant.owner("PATCH", `/projects/${id}`, { name: `Name ${n}` }));
  const page = await open(`log?stream=${stream}`);
  await page.getByText(/^131 events, a bar for/).waitFor();
  await inspect(page, "log-histogram");
  expect(await page.locator("li.step").count()).toBe(100);
  // on a fast machine the first bar has more events than a page
  const scrollToFirst = () =>
    expect
      .poll(async () => {
        await page.keyboard.press("End");
        return page.getByText("The project “Renamed” was created.").count();
      }, SOON)
      .toBe(1);
  await scrollToFirst();
  await page
    .getByRole("link", { name: /^\d+ events? from/ })
    .first()
    .click();
  await expect.poll(() => page.url(), SOON).toContain("after=");
  await scrollToFirst();
  await page.reload();
  await scrollToFirst();
  await page.getByRole("link", { name: "Newest" }).click();
  await page.getByText("The project “Name 129” was renamed.").waitFor();
});

test("the chain is checked up to an event, and the first changed event is named", async () => {
  const { id } = await tenant.project("Written");
  await tenant.made(tenant.owner("PATCH", `/projects/${id}`, { name: "Written again" }));
  const page = await open(`log?stream=project-${id}`);
  await page.getByText("The project “Written” was created.").click();
  await page.getByRole("link", { name: "Verify the chain up to here" }).click();
  await page.getByRole("heading", { name: "The chain of events, up to the chosen one" }).waitFor();
  await page.getByText("are what was written.").waitFor();
  await inspect(page, "log-chain");
  const { db } = service;
  await db.query("update log.events set type = 'ProjectDeleted' where stream = $1 and version = 2", [`project-${id}`]);
  await page.getByRole("button", { name: "Check again" }).click();
  await page.getByText("are what was written.").waitFor();
  await page.getByRole("link", { name: "Verify the chain", exact: true }).click();
  await page.getByRole("alert").getByText("ProjectDeleted, event 2 of").waitFor();
  await page.getByRole("alert").getByText("It is not what was written.").waitFor();
  await inspect(page, "log-chain-broken");
  await page.getByRole("alert").getByRole("link").click();
  await page.getByRole("term").getByText("Caused by").waitFor();
  await db.query("update log.events set type = 'ProjectChanged' where stream = $1 and version = 2", [`project-${id}`]);
});

const FIELDS = `position::float8 as position, stream, version, organization_id, type, shape, command_id, meta, data, thing,
  ((extract(epoch from recorded_at) * 1000000)::bigint)::text as recorded_us, encode(sealed, 'hex') as sealed`;

test("the browser computes the hashes itself: it names a forged event, and a saved hash reveals a rewritten log", async () => {
  const { id } = await tenant.project("Kept");
  await tenant.made(tenant.owner("PATCH", `/projects/${id}`, { name: "Kept longer" }));
  const page = await open("log?verify=all");
  await page.getByText("are what was written.").waitFor();
  await page.getByRole("link", { name: "this address with the hash" }).click();
  await page.getByText("This is the hash that was kept").waitFor();
  await inspect(page, "log-chain-kept");

  await page.route("**/api/events?**", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    await route.fulfill({ response, body: text.replaceAll('"ProjectCreated"', '"ProjectDeleted"') });
  });
  await page.getByRole("button", { name: "Check again" }).click();
  await page.getByRole("alert").getByText("ProjectDeleted, event 1 of").waitFor();
  await page.getByRole("alert").getByText("another hash than what the log has").waitFor();
  await inspect(page, "log-chain-shown-otherwise");
  await page.unroute("**/api/events?**");

  // somebody who changes the newest event and its hash, too: the service's own check finds nothing
  const { db } = service;
  const [last] = await db.query<ChainedRow>(`select ${FIELDS} from log.events order by position desc limit 1`);
  const [before] = await db.query<{ hash: string }>(
    "select encode(hash, 'hex') as hash from log.events where position = $1",
    [last!.position - 1],
  );
  const type = "ProjectDeleted";
  const rewrite = (row: ChainedRow) =>
    db.query("update log.events set type = $2, hash = decode($3, 'hex') where position = $1", [
      row.position,
      row.type,
      linkHash(before!.hash, row),
    ]);
  const kept = page.url();
  await rewrite({ ...last!, type });
  await page.reload();
  await page.getByText("are what was written.").waitFor();
  await page.getByRole("alert").getByText("This is not the hash that was kept.").waitFor();
  await inspect(page, "log-chain-not-kept");
  await rewrite(last!);
  await page.goto(kept);
  await page.getByText("This is the hash that was kept").waitFor();
});

test("the events of one command can be filtered, and ids in an event link to their screens", async () => {
  const { id } = await tenant.register(`export const run = (ctx) => ctx.complete(1);`, {}, { name: "Short" });
  const run = await tenant.start({ id }, {});
  await tenant.until(run, ({ status }) => status === "completed");
  const page = await open(`log?stream=run-${run}&type=RunCreated`);
  await page.locator("main [data-row]").first().click();
  await page.getByRole("link", { name: id }).waitFor();
  await inspect(page, "log-event-ids");
  const [created] = (await tenant.made(tenant.owner("GET", `/events?stream=run-${run}&type=RunCreated`))).data;
  await page.getByRole("link", { name: created.command_id }).click();
  await page.waitForURL(/[?&]command=/);
  expect(await page.getByLabel("Command").inputValue()).toBe(created.command_id);
  const { data } = await tenant.made(tenant.owner("GET", `/events?command=${created.command_id}`));
  expect(data).toContainEqual(created);
  expect(new Set(data.map(({ command_id }: any) => command_id))).toEqual(new Set([created.command_id]));
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(data.length);
  await page.getByText(`${data.length} event`, { exact: false }).first().waitFor();
  await inspect(page, "log-of-command");
  await page.getByLabel("Command").fill("nobody-sent-this");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No event matches" }).waitFor();
  await page.goto(`${tenant.url}/console/log?stream=run-${run}&type=RunCreated`);
  await page.locator("main [data-row]").first().click();
  await page.getByRole("link", { name: id }).click();
  await page.getByRole("heading", { name: "Short" }).waitFor();
});
