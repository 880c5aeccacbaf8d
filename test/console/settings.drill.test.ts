import { expect, test } from "vitest";
import { code, SOON } from "../workflows/tenant.ts";
import { agreeToAll, HOSTILE, inspect, LONG_NAME, openConsole } from "./browser.ts";

/* The settings of an organization, for each role that may change them. */

const { tenant, open } = await openConsole();

test("changing one's own password ends the other sessions", async () => {
  const builder = await tenant.member("builder");
  const page = await open("settings", builder);
  const first = (await tenant.made(tenant.owner("POST", `/members/${builder.id}/password`))).password;
  const signIn = async (password: string) => {
    await page.getByLabel("E-mail").fill(builder.email);
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Settings" }).waitFor();
  };
  await page.reload();
  await signIn(first);
  const change = async (present: string, wanted: string, again = wanted) => {
    await page.getByLabel("Current password").fill(present);
    await page.getByLabel("At least 12 characters").fill(wanted);
    await page.getByLabel("The new password again").fill(again);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  await inspect(page, "settings");
  await change(first, "a good long password", "another long password");
  await page.getByRole("alert").getByText("differ").waitFor();
  await change("wrong", "a good long password");
  await page.getByRole("alert").getByText("code wrong_password").waitFor();
  await inspect(page, "settings-wrong-password");
  await change(first, "a good long password");
  await page.getByText("Your other sessions have ended.").waitFor();
  const fields = page.getByRole("region", { name: "Password" }).locator("input[type=password]");
  expect(await fields.evaluateAll((all) => all.map((field) => (field as { value?: string }).value))).toEqual([
    "",
    "",
    "",
  ]);
  await page.reload();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await signIn("a good long password");
});

test("a new alias can be chosen in an open chat, and by a builder who opens the chat later", async () => {
  const page = await open("chat");
  const builder = await open("chat", await tenant.member("builder", "chooser"));
  const choices = (of: typeof page) => of.getByLabel("Answered by").locator("option").allTextContents();
  for (const one of [page, builder]) await expect.poll(() => choices(one), SOON).toContain("offline/echo");
  await builder.getByRole("link", { name: "Agents", exact: true }).click();
  await builder.getByRole("heading", { name: "Agents", exact: true }).waitFor();
  const targets = [{ model: "offline/echo" }, { model: "offline/scripted" }];
  await tenant.made(tenant.owner("PUT", "/aliases/swift", { targets }));
  await page.bringToFront();
  await expect.poll(() => choices(page), SOON).toContain("swift");
  await builder.getByRole("link", { name: "Chat", exact: true }).click();
  await expect.poll(() => choices(builder), SOON).toContain("swift");
});

test("an admin sets the languages of scans, and others see them", async () => {
  const page = await open("settings");
  const section = page.getByRole("region", { name: "Text in pictures and scans" });
  await section.getByText("It is read in eng (English), deu (German).").waitFor();
  await section.getByLabel("Languages").fill("deu, xyz");
  await section.getByRole("button", { name: "Set languages" }).click();
  await section.getByText("is not installed. Installed are deu, eng.").first().waitFor();
  await inspect(page, "settings-languages");
  await section.getByLabel("Languages").fill("deu");
  await section.getByRole("button", { name: "Set languages" }).click();
  await section.getByText("It is read in deu (German).").waitFor();
  expect(await tenant.made(tenant.owner("GET", "/ocr"))).toMatchObject({ languages: ["deu"] });
  const viewer = await open("settings", await tenant.member("viewer", "reader"));
  await viewer.getByText("It is read in deu (German).").waitFor();
  expect(await viewer.getByRole("button", { name: "Set languages" }).count()).toBe(0);
  await section.getByLabel("Languages").fill("");
  await section.getByRole("button", { name: "Set languages" }).click();
  await viewer.getByText("It is read in eng (English), deu (German).").waitFor();
});

test("projects are created, renamed, and deleted once they are empty", async () => {
  const page = await open("settings?section=projects");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no projects" }).waitFor();
  await inspect(page, "projects-empty");
  await page.getByLabel("Name of a new project").fill(`Project ${HOSTILE}`);
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("link", { name: `Project ${HOSTILE}` }).click();
  await page.getByLabel("New name of").fill(LONG_NAME.slice(0, 200));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: LONG_NAME.slice(0, 50) }).waitFor();
  const [{ id }] = (await tenant.made(tenant.owner("GET", "/projects"))).data;
  const key = await tenant.made(tenant.owner("POST", "/keys", { name: "Inside", project_id: id }));
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alert").getByText("code project_in_use").waitFor();
  await inspect(page, "projects");
  await page.getByRole("link", { name: "Its keys" }).click();
  await page.getByRole("link", { name: "Inside" }).waitFor();
  await tenant.owner("DELETE", `/keys/${key.id}`);
  await page.goBack();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "There are no projects" }).waitFor();
});

test("a provider gets its API key, which no page shows again, and is removed", async () => {
  const page = await open("settings?section=providers");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no providers" }).waitFor();
  await inspect(page, "providers-empty");
  await page.getByLabel("Name").fill("mine");
  await page.getByLabel("API key").fill("sk-never-shown");
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByRole("alert").getByText("field base_url").waitFor();
  await page.getByLabel("Address of its API").fill("http://127.0.0.1:9/v1");
  await page.getByLabel("Models, one in each line").fill("small\nlarge");
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByText("2 models").waitFor();
  expect(await page.content()).not.toContain("sk-never-shown");
  await page.getByRole("link", { name: "mine" }).click();
  await page.getByRole("heading", { name: "Change mine" }).waitFor();
  expect(await page.getByLabel("API key").inputValue()).toBe("");
  await inspect(page, "providers");
  await page.getByLabel("API key").fill("sk-another");
  await page.getByLabel("Models, one in each line").fill("small");
  await page.getByRole("button", { name: "Save mine" }).click();
  await page.getByText("1 model", { exact: true }).waitFor();
  expect(await tenant.made(tenant.owner("GET", "/providers/mine"))).toMatchObject({ models: ["small"] });
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "There are no providers" }).waitFor();
  expect(code(await tenant.owner("GET", "/providers/mine"))).toEqual([404, "provider_not_found"]);
});

test("a builder sets secrets, sees new ones live, and does not see providers", async () => {
  const builder = await tenant.member("builder");
  const page = await open("settings?section=secrets", builder);
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no secrets" }).waitFor();
  await inspect(page, "secrets-empty");
  await page.getByLabel("Name").fill("not a name");
  await page.getByLabel("It is never shown again").fill("words of a secret");
  await page.getByRole("button", { name: "Set secret" }).click();
  await page.getByRole("alert").getByText("code invalid_name").waitFor();
  await page.getByLabel("Name").fill("CRM_TOKEN");
  await page.getByRole("button", { name: "Set secret" }).click();
  await page.getByRole("link", { name: "CRM_TOKEN" }).waitFor();
  expect(await page.getByLabel("It is never shown again").inputValue()).toBe("");
  await tenant.secret("LIVE_TOKEN", "another secret");
  await page.getByRole("link", { name: "LIVE_TOKEN" }).click();
  await page.getByRole("heading", { name: "A new value for LIVE_TOKEN" }).waitFor();
  await inspect(page, "secrets");
  // the rows repeat the label, so a screen reader hears the name with it
  await page.getByRole("button", { name: "Remove LIVE_TOKEN", exact: true }).click();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
  expect(await page.getByRole("link", { name: "Providers" }).count()).toBe(0);
  await page.goto(`${tenant.url}/console/settings?section=providers`);
  await page.getByRole("heading", { name: "Providers are not shown to your role" }).waitFor();
  await inspect(page, "providers-refused");
});

test("a viewer sees the projects, but no secrets and no form", async () => {
  await tenant.made(tenant.owner("POST", "/projects", { name: "Seen" }));
  const viewer = await tenant.member("viewer");
  const page = await open("settings?section=projects", viewer);
  await page.getByText("Seen").waitFor();
  expect(await page.getByRole("button", { name: "Create project" }).count()).toBe(0);
  await page.goto(`${tenant.url}/console/settings?section=secrets`);
  await page.getByRole("heading", { name: "Secrets are not shown to your role" }).waitFor();
});
