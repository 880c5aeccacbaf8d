import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { expect } from "vitest";
import { afterFile, afterTest } from "../cleanUp.ts";
import { startService } from "../http/service.ts";
import { openTenant } from "../workflows/tenant.ts";

/** Where Debian's package `chromium` installs it; CHROMIUM names another one. */
const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const ARGS =
  "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
/** Set to a folder to keep a picture of each screen. */
const PICTURES = process.env["PICTURES"];
const AXE = new URL("../../node_modules/axe-core/axe.min.js", import.meta.url);

/** Text that does harm wherever it is shown as anything but text. */
export const HOSTILE = `<img src=x onerror="reportViolation('ran')"><script>reportViolation('ran')</script>`;
/** As long as drills poll: a busy machine paints late. */
const PATIENCE_MS = 120_000;
const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

// scripts of the page, as text: the tests are checked without the types of browsers
const REPORT = `document.addEventListener("securitypolicyviolation", (event) =>
  reportViolation([event.violatedDirective, event.blockedURI, event.sample].join(" ")))`;
const FIND_VIOLATIONS = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`;
const EXCESS_WIDTH = "document.documentElement.scrollWidth - window.innerWidth";
const BROKEN_WORDS = `[...document.querySelectorAll(".status")]
  .filter((status) => status.getClientRects().length > 0 && !/\\s/.test(status.textContent.trim()))
  .filter((status) => status.offsetHeight > 2 * Number.parseFloat(getComputedStyle(status).fontSize))
  .map((status) => status.textContent)`;

/** One browser with an empty profile of its own, for the whole test file. */
async function openBrowser(): Promise<Browser> {
  if (!existsSync(PROGRAM))
    throw new Error(`The console is tested in Chromium, and there is none at ${PROGRAM}: apt-get install -y chromium`);
  const browser = await chromium.launch({ executablePath: PROGRAM, chromiumSandbox: false, args: ARGS.split(" ") });
  afterFile(() => browser.close());
  return browser;
}

/** A new visitor without cookies, until the test ends. It must see no error on its pages and no violation of their content security policy. */
async function visit(browser: Browser, viewport: typeof DESKTOP): Promise<Page> {
  const context = await browser.newContext({ viewport, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  await context.exposeFunction("reportViolation", (text: string) => problems.push(text));
  await context.addInitScript({ content: REPORT });
  page.on("pageerror", (error) => problems.push(String(error)));
  afterTest(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });
  return page;
}

/** As long as names may be, without a place to break. */
export const LONG_NAME = "Unbreakable".repeat(18);

/** The secret that a page shows once. */
export const shownSecret = async (page: Page): Promise<string> => (await page.locator("section code").textContent())!;

/** Answers every question of a page with yes. */
export const agreeToAll = (page: Page) => page.on("dialog", (dialog) => void dialog.accept());

/** Answers the next question of a page with no. Returns the texts of the questions so far. */
export function refuseNext(page: Page): string[] {
  const asked: string[] = [];
  page.once("dialog", (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  return asked;
}

/** The id of the thing that a page shows. */
export const idIn = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1)!;

export type Console = Awaited<ReturnType<typeof openConsole>>;

/** A service with its console in a browser, and the organization that the console shows. */
export async function openConsole(env?: Record<string, string>) {
  const service = await startService(env);
  const browser = await openBrowser();
  const tenant = await openTenant(service.base, service.credentials);
  const newPage = (viewport = DESKTOP) => visit(browser, viewport);
  return {
    service,
    tenant,
    /** A page without a session. */
    newPage,
    /** A path of the console, opened by a one-time link: the first administrator's, unless another person's address is given. */
    async open(path = "", { email = service.credentials.admin.email, viewport = DESKTOP } = {}): Promise<Page> {
      const page = await newPage(viewport);
      const code = service.startCodes!.create({ organization_id: tenant.organization_id, email });
      await page.goto(`${service.base}/console/${path}#start=${code}`);
      await page.getByRole("navigation", { name: "Main" }).waitFor();
      return page;
    },
  };
}

/** axe-core finds nothing to object to. It is evaluated by the debugger, which the page's policy does not bind. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(await readFile(AXE, "utf8"));
  const violations = await page.evaluate(FIND_VIOLATIONS);
  expect(violations, page.url()).toEqual([]);
}

/** Nothing is cut off or scrolls sideways, and no status of one word breaks. */
export async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate(EXCESS_WIDTH), page.url()).toBeLessThanOrEqual(0);
  expect(await page.evaluate(BROKEN_WORDS), page.url()).toEqual([]);
}

/** With PICTURES, the page as it is. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!PICTURES) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

/** The screen in both themes and in two widths, checked for accessibility; with PICTURES, also as pictures. */
export async function inspect(page: Page, name: string): Promise<void> {
  const looks = [
    { theme: "light", viewport: DESKTOP },
    { theme: "dark", viewport: PHONE },
    ...(PICTURES ? [{ theme: "dark", viewport: DESKTOP } as const, { theme: "light", viewport: PHONE } as const] : []),
  ] as const;
  for (const { theme, viewport } of looks) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(viewport);
    await expectAccessible(page);
    await expectFits(page);
    await takePicture(page, `${name}-${viewport.width}-${theme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(DESKTOP);
}
