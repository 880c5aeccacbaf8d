import { expect, test } from "vitest";
import { code, SOON } from "../workflows/tenant.ts";
import { agreeToAll, expectFits, HOSTILE, idIn, inspect, LONG_NAME, openConsole, shownSecret } from "./browser.ts";

/* An administrator's way to the API keys. */

const { tenant, open } = await openConsole();

/** What a key may: the models that it sees. */
const use = (secret: string) => tenant.clientAt(secret)("GET", "/openai/v1/models");
const refused = async (secret: string): Promise<number> => (await use(secret)).status;

test("a key is created with its secret shown once, limited, disabled, rotated and deleted", async () => {
  const page = await open("keys");
  agreeToAll(page);
  await page.getByRole("link", { name: "New key" }).click();
  // the list has a filter of this name
  await page.getByRole("heading", { name: "New key" }).waitFor();
  await page.getByLabel("Name").fill(`Key ${HOSTILE}`);
  await page.getByLabel("extraction").uncheck();
  await page.getByLabel("Only these").check();
  await page.getByLabel("Allowed models").fill(" offline/echo \n\noffline/echo");
  await inspect(page, "key-new");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("It is shown only now.").waitFor();
  const first = await shownSecret(page);
  await inspect(page, "key-created");
  expect((await use(first)).body.data.map(({ id }: { id: string }) => id)).toEqual(["offline/echo"]);
  await page.getByRole("link", { name: "See the key" }).click();
  await page.getByRole("heading", { name: `Key ${HOSTILE}` }).waitFor();
  await inspect(page, "key");
  expect(await page.getByText(first).count()).toBe(0);
  const id = idIn(page);
  const read = () => tenant.made(tenant.owner("GET", `/keys/${id}`));
  expect(await read()).toMatchObject({ products: ["knowledge"], allowed_models: ["offline/echo"], expires_at: null });

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByText("disabled", { exact: true }).waitFor();
  expect(await refused(first)).toBe(401);
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByText("active", { exact: true }).waitFor();
  await page.getByRole("button", { name: "New secret" }).click();
  await page.getByText("It is shown only now.").waitFor();
  const second = await shownSecret(page);
  expect([await refused(first), await refused(second)]).toEqual([401, 200]);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  expect(code(await tenant.owner("GET", `/keys/${id}`))).toEqual([404, "key_not_found"]);
  await expect.poll(() => page.getByText(`Key ${HOSTILE}`).count(), SOON).toBe(0);
  await page.goBack();
  await page.getByRole("alert").getByText("code key_not_found").waitFor();
});

test("only a secret that was copied is called copied", async () => {
  const { id } = await tenant.newKey({ name: "Rotated" });
  const page = await open(`keys/${id}`);
  agreeToAll(page);
  await page.context().grantPermissions(["clipboard-write"]);
  const rotate = page.getByRole("button", { name: "New secret" });
  const copy = page.getByRole("button", { name: "Copy", exact: true });
  await rotate.click();
  await copy.click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await rotate.click();
  await copy.waitFor();
});

test("saving a key changes the edited fields, and keeps what another person changed meanwhile", async () => {
  const { id } = await tenant.made(
    tenant.owner("POST", "/keys", { name: "Shared", expires_at: "2040-01-02T03:04:05Z" }),
  );
  const page = await open(`keys/${id}`);
  await page.getByLabel("Name").fill("Renamed");
  await tenant.made(tenant.owner("PATCH", `/keys/${id}`, { enabled: false }));
  await page.getByText("disabled", { exact: true }).waitFor();
  await tenant.made(tenant.owner("PATCH", `/keys/${id}`, { client_tools: true }));
  await page.keyboard.press("Enter");
  await page.getByText("Saved.").waitFor();
  await page.getByRole("heading", { name: "Renamed" }).waitFor();
  expect(await tenant.made(tenant.owner("GET", `/keys/${id}`))).toMatchObject({
    name: "Renamed",
    enabled: false,
    client_tools: true,
    expires_at: "2040-01-02T03:04:05.000Z",
  });
  await page.getByLabel("Name").fill(" ");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("field name").waitFor();
  // the name that was refused is not saved: leaving the page is a question
  agreeToAll(page);
  await page.getByRole("link", { name: "its requests" }).click();
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  expect(page.url()).toContain(id);
});

test("many keys are listed live, filtered by address, and opened with the keyboard", async () => {
  const { id: project } = await tenant.made(tenant.owner("POST", "/projects", { name: LONG_NAME }));
  const names = Array.from({ length: 60 }, (_, n) => (n === 0 ? LONG_NAME : `Many ${n}`));
  for (const name of names) await tenant.made(tenant.owner("POST", "/keys", { name, project_id: project }));
  const page = await open(`keys?project=${project}`);
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(61);
  await inspect(page, "keys");
  await tenant.made(
    tenant.owner("POST", "/keys", { name: "Live", project_id: project, expires_at: "2020-01-01T00:00:00Z" }),
  );
  await page.getByRole("link", { name: "Live" }).waitFor();
  await page.getByLabel("State").selectOption("expired");
  await expect.poll(() => page.url(), SOON).toContain("state=expired");
  await page.reload();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Live" }).waitFor();
  await page.getByText("expired", { exact: true }).waitFor();
  await page.goBack();
  await page.keyboard.press("/");
  await page.keyboard.type("no such name");
  await page.getByRole("heading", { name: "No key matches the filters" }).waitFor();
  await inspect(page, "keys-none");
  await page.getByRole("link", { name: "all keys" }).click();
  await page.getByRole("row").nth(61).waitFor();
  await expectFits(page);
});

test("a builder has no menu entry for keys, and the page names the administrators", async () => {
  const builder = await tenant.member("builder");
  const page = await open("keys", builder);
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  expect(await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Keys" }).count()).toBe(0);
  await inspect(page, "keys-refused");
  await page.goto(`${tenant.url}/console/keys/new`);
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  await page.getByRole("link", { name: "See who they are" }).click();
  await page.getByRole("heading", { name: "Members" }).waitFor();
});

test("the end of a key stays in one piece beside a right-to-left name", async () => {
  await tenant.made(tenant.owner("POST", "/keys", { name: "مفتاح الموقع" }));
  const page = await open("keys");
  const end = page.getByRole("link", { name: "مفتاح الموقع" }).locator("bdi");
  await end.waitFor();
  // its parts touch: the name is not between them
  const gap = await end.evaluate((element: any) => {
    const parts = [...element.getClientRects()].map(({ width }: { width: number }) => width);
    return element.getBoundingClientRect().width - parts.reduce((sum, width) => sum + width, 0);
  });
  expect(Math.abs(gap)).toBeLessThan(1);
});
