import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { hear } from "./axTree.ts";
import { agreeToAll, inspect, openConsole } from "./browser.ts";
import { everyForm, makeItems, type Items, type WalkedForm } from "./everyForm.ts";

/* What a screen reader announces about a wrong field, and where the focus goes. */

const SCREENS = new URL("../../console/screens/", import.meta.url).pathname;
/** Enough on a busy machine, and short enough to name all faults of a walk. */
const SOON = { interval: 100, timeout: 15_000 };
/** Of the walk through all forms. */
const WALK_MS = 900_000;
const REFUSED = "The drill refuses this.";
/** Filters and menus, whose fields take every text. */
const WITHOUT_CHECKS = ["chat/Composer.tsx", "log/Filters.tsx"];
/** Walked without a session. */
const SIGN_IN = "signIn/SignIn.tsx";

const all = await openConsole();

const formWith = (page: Page, button: string): Locator =>
  page.locator("form", { has: page.locator("button", { hasText: new RegExp(`^${button}$`) }) }).first();

/** Enters something plausible in empty fields. */
async function fillIn(form: Locator): Promise<void> {
  const texts: Record<string, string> = { email: "ann@example.org", url: "https://example.org", number: "1" };
  const dates: Record<string, string> = { date: "2030-01-01", "datetime-local": "2030-01-01T10:00" };
  const numbers = ["decimal", "numeric"];
  const wrong = form.locator(":is(input, select, textarea):invalid");
  for (let left = await wrong.count(); left > 0; left--) {
    const field = wrong.first();
    const [name, mode] = [await field.getAttribute("name"), await field.getAttribute("inputmode")];
    const type = await field.evaluate((element) => (element as any).type);
    const text = { model: "offline/echo", group: "legal" }[name?.split(".").at(-1) ?? ""];
    if (type.startsWith("select")) await field.selectOption({ index: 1 });
    else
      await field.fill(
        text ?? texts[type] ?? dates[type] ?? (numbers.includes(mode ?? "") ? "1" : "words-of-the-drill"),
      );
  }
}

/** The request of a form, whose answer names a wrong parameter. */
async function refuseAll(page: Page): Promise<{ sent: Record<string, unknown>[]; param: string | null }> {
  const state = { sent: [] as Record<string, unknown>[], param: null as string | null };
  await page.route("**/api/**", async (route) => {
    const request = route.request();
    const isWrite = request.method() !== "GET" && request.method() !== "HEAD";
    if (!isWrite || /\/(search|check)/.test(request.url())) return route.fallback();
    state.sent.push((request.postDataJSON() ?? {}) as Record<string, unknown>);
    const error = { message: REFUSED, type: "invalid_request_error", code: "invalid", param: state.param };
    return route.fulfill({ status: 400, json: { error } });
  });
  return state;
}

/** The parameters that a refusal of a field may name: those of an object are its fields. */
function paramsOf(name: string, value: unknown): string[] {
  const fields = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  return fields.length === 0 ? [name] : fields.flatMap(([field, inner]) => paramsOf(`${name}.${field}`, inner));
}

/** Sends the form with the keyboard, like a person who uses a screen reader. */
async function press(form: Locator, button: string): Promise<void> {
  await form.getByRole("button", { name: button, exact: true }).focus();
  await form.page().keyboard.press("Enter");
}

/** Expects that the form describes the error, and that the focus is on the invalid field, whose description is the same text. */
async function expectWrong(page: Page, what: string, words: string | RegExp): Promise<void> {
  const heard = async () => {
    const { focused, alerts } = await hear(page);
    return { isInvalid: focused?.isInvalid, description: focused?.description, alert: alerts.join(" ") };
  };
  await expect
    .poll(heard, { ...SOON, message: what })
    .toEqual({ isInvalid: true, description: expect.stringMatching(words), alert: expect.stringMatching(words) });
}

/** Walks one form: without its required entries, and with each of its parameters refused. */
async function walk(page: Page, one: WalkedForm): Promise<void> {
  const { file, path, button, prepare, fixed = [], sendsNone } = one;
  await page.goto(`${all.tenant.url}/console/${path}`);
  const form = formWith(page, button);
  await form.waitFor({ state: "attached" });
  await prepare?.(page);
  await form.getByRole("button", { name: button, exact: true }).waitFor();
  if ((await form.locator(":invalid").count()) > 0) {
    await press(form, button);
    await expectWrong(page, `${file}: an empty field`, /\w+\./);
  }
  if (sendsNone) return;
  await fillIn(form);
  const refused = await refuseAll(page);
  await press(form, button);
  await expect.poll(async () => (await hear(page)).alerts.join(" "), { ...SOON, message: file }).toContain(REFUSED);
  const params = Object.entries(refused.sent.at(-1) ?? {}).flatMap(([name, value]) => paramsOf(name, value));
  for (const param of params.filter((name) => !fixed.includes(name))) {
    refused.param = param;
    await press(form, button);
    await expect.poll(async () => (await hear(page)).alerts.join(" "), SOON).toContain(`field ${param}`);
    await expectWrong(page, `${file}: ${param}`, REFUSED);
  }
}

test(
  "every form of the console announces a wrong field, and moves the focus to it",
  async () => {
    const page = await all.open();
    agreeToAll(page);
    page.setDefaultTimeout(SOON.timeout);
    const faults: string[] = [];
    for (const one of everyForm(await makeItems(all))) {
      await walk(page, one).catch((error: unknown) => faults.push(`${one.file}: ${String(error)}`));
      await page.unrouteAll();
    }
    expect(faults).toEqual([]);
  },
  WALK_MS,
);

test("no form of the console is left out", async () => {
  const files = await Array.fromAsync(glob("*/*.tsx", { cwd: SCREENS }));
  const hasForm = async (file: string) => /<(Form|ArgsForm|form)\b/.test(await readFile(join(SCREENS, file), "utf8"));
  const found = (await Promise.all(files.map(async (file) => ((await hasForm(file)) ? file : [])))).flat();
  const walked = [...everyForm({} as Items).map(({ file }) => file), ...WITHOUT_CHECKS, SIGN_IN];
  expect(found.toSorted()).toEqual([...new Set(walked)].toSorted());
});

test("several wrong fields are announced together, and a corrected field is not wrong any more", async () => {
  const page = await all.newPage();
  await page.goto(`${all.service.base}/console/`);
  await page.getByLabel("E-mail").fill("ann");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expectWrong(page, SIGN_IN, "Write an e-mail address, as in ann@example.org.");
  expect((await hear(page)).alerts.join(" ")).toContain("Password: Fill in this field.");
  await inspect(page, "sign-in-wrong");
  await page.getByLabel("E-mail").pressSequentially("@example.org");
  expect((await hear(page)).focused).toMatchObject({ isInvalid: false, description: "" });
  expect(await page.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
});

test("a refused sign-in moves the focus to the password, or to the organization if that is missing", async () => {
  const page = await all.newPage();
  const { email, password } = all.service.credentials.admin;
  await page.goto(`${all.service.base}/console/`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill("not the password");
  const form = formWith(page, "Sign in");
  await press(form, "Sign in");
  await expectWrong(page, SIGN_IN, "The email address or the password is wrong");
  expect((await hear(page)).focused?.name).toBe("Password");
  const sent: Record<string, unknown>[] = [];
  await page.route("**/api/auth/login", async (route) => {
    const body = route.request().postDataJSON() as Record<string, unknown>;
    sent.push(body);
    if (body["organization"] !== undefined) return route.continue();
    const error = { message: "organization: is needed.", code: "organization_required", param: "organization" };
    return route.fulfill({ status: 400, json: { error } });
  });
  await page.getByLabel("Password").fill(password);
  await press(form, "Sign in");
  await expectWrong(page, SIGN_IN, "is needed");
  await inspect(page, "sign-in-organization");
  await page.keyboard.type(all.tenant.organization_id);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect(sent.at(-1)).toMatchObject({ email, organization: all.tenant.organization_id });
});

test("a wrong filter of a search of documents gets the focus, whether the page or the service refuses it", async () => {
  const page = await all.open("knowledge?q=rent&tags=hr");
  const form = formWith(page, "Search");
  await form.getByLabel("Own metadata").fill("kind lease");
  await press(form, "Search");
  await expectWrong(page, "SearchBox.tsx: metadata", "is no condition");
  expect((await hear(page)).focused?.name).toBe("Own metadata");
  await form.getByLabel("Own metadata").fill("");
  await form.getByLabel("File types").fill("nonsense");
  await press(form, "Search");
  await expectWrong(page, "SearchBox.tsx: types", "must be one of");
  expect((await hear(page)).focused?.name).toBe("File types");
  await inspect(page, "search-wrong-type");
});

test("a dialog gives the focus back to where it was", async () => {
  const page = await all.open("keys/new");
  const name = page.getByLabel("Name");
  await name.focus();
  for (const keys of ["Control+k", "Shift+?"]) {
    await (keys === "Shift+?" ? page.getByRole("button", { name: "Create key" }) : name).focus();
    const before = (await hear(page)).focused?.name;
    await page.keyboard.press(keys);
    await page.getByRole("dialog").waitFor();
    await expect.poll(async () => (await hear(page)).focused?.name, SOON).not.toBe(before);
    await page.keyboard.press("Escape");
    await expect.poll(async () => (await hear(page)).focused?.name, SOON).toBe(before);
  }
});
