import { expect, test } from "vitest";
import { code, SOON } from "../workflows/tenant.ts";
import { agreeToAll, HOSTILE, idIn, inspect, LONG_NAME, openConsole, shownSecret } from "./browser.ts";

/* An administrator's way to the people of the organization. */

const { tenant, open, newPage } = await openConsole();

test("a member is added with an initial password, signs in, gets another role, is deactivated and removed", async () => {
  const page = await open("members");
  agreeToAll(page);
  await page.getByRole("link", { name: "Add a member" }).click();
  // the list has a filter of a similar name
  await page.getByRole("heading", { name: "New member" }).waitFor();
  const email = `added.${Date.now()}@example.org`;
  await page.getByLabel("Name").fill(`Ada ${HOSTILE}`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("approver").check();
  await inspect(page, "member-new");
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByText("It is shown only now.").waitFor();
  const password = await shownSecret(page);
  await inspect(page, "member-added");

  const theirs = await newPage();
  await theirs.goto(`${tenant.url}/console/`);
  await theirs.getByLabel("E-mail").fill(email);
  await theirs.getByLabel("Password").fill(password);
  await theirs.keyboard.press("Enter");
  await theirs.getByRole("heading", { name: "Inbox" }).waitFor();

  await page.getByRole("link", { name: "See the member" }).click();
  await page.getByRole("heading", { name: `Ada ${HOSTILE}` }).waitFor();
  const id = idIn(page);
  await page.getByLabel("builder").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await inspect(page, "member");
  expect(await tenant.made(tenant.owner("GET", `/members/${id}`))).toMatchObject({ role: "builder", active: true });
  await page.getByRole("button", { name: "New password" }).click();
  await page.getByText("It is shown only now.").waitFor();
  expect(await shownSecret(page)).not.toBe(password);
  await theirs.reload();
  await theirs.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByRole("button", { name: "Lock out" }).click();
  await page.getByText("locked out", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Let in again" }).click();
  await page.getByText("active", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Members" }).waitFor();
  expect(code(await tenant.owner("GET", `/members/${id}`))).toEqual([404, "member_not_found"]);
});

test("a taken address is refused with the reason, and the last owner stays an owner", async () => {
  const page = await open("members/new");
  await page.getByLabel("Name").fill("Twice");
  await page.getByLabel("E-mail").fill(tenant.credentials.admin.email);
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByRole("alert").getByText("code email_taken").waitFor();
  await page.goto(`${tenant.url}/console/members?role=owner`);
  await page.locator("main [data-row]").click();
  await page.getByText("This is you.").waitFor();
  await page.getByLabel("viewer").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("code last_owner").waitFor();
  await inspect(page, "member-self");
});

test("many members are listed live and filtered by address; a viewer sees them and changes nobody", async () => {
  const names = Array.from({ length: 30 }, (_, n) => (n === 0 ? LONG_NAME : `Many ${n}`));
  for (const [n, name] of names.entries())
    await tenant.made(
      tenant.owner("POST", "/members", { name, email: `many.${n}.${Date.now()}@example.org`, role: "viewer" }),
    );
  const viewer = await tenant.member("viewer", "watcher");
  const page = await open("members?role=viewer", viewer);
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(32);
  expect(await page.getByRole("link", { name: "Add a member" }).count()).toBe(0);
  await inspect(page, "members");
  await tenant.member("viewer", "late");
  await page.getByRole("link", { name: "late" }).waitFor();
  await page.getByLabel("Name or e-mail").fill("Many 2");
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(12);
  await page.reload();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(12);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("Administrators change members.").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  await inspect(page, "member-read-only");
  await page.goto(`${tenant.url}/console/members/new`);
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  await page.goto(`${tenant.url}/console/members?q=nobody+of+this+name`);
  await page.getByRole("heading", { name: "No member matches the filters" }).waitFor();
});

test("an open page follows the new role of its person", async () => {
  const viewer = await tenant.member("viewer", "rising");
  const page = await open("agents", viewer);
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  const make = page.getByRole("link", { name: "New agent" });
  expect(await make.count()).toBe(0);
  await tenant.made(tenant.owner("PATCH", `/members/${viewer.id}`, { role: "builder" }));
  await make.waitFor();
  await tenant.made(tenant.owner("PATCH", `/members/${viewer.id}`, { role: "viewer" }));
  await make.waitFor({ state: "detached" });
});

test("an administrator can neither change an owner nor create one", async () => {
  const admin = await tenant.member("admin");
  const page = await open("members?role=owner", admin);
  await page.locator("main [data-row]").click();
  await page.getByText("Only an owner changes an owner.").waitFor();
  expect(await page.getByRole("button", { name: "Remove" }).count()).toBe(0);
  await page.goto(`${tenant.url}/console/members/new`);
  await page.getByLabel("admin").waitFor();
  expect(await page.getByLabel("owner").count()).toBe(0);
});
