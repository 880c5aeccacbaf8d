import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { expect } from "vitest";
import { afterFile } from "../cleanUp.ts";
import type { Service } from "../http/service.ts";

/** Where Debian's package `chromium` installs it; CHROMIUM names another one. */
const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const ARGS =
  "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
/** Set to a folder to keep a picture of each screen. */
const PICTURES = process.env["PICTURES"];
const AXE = new URL("../../node_modules/axe-core/axe.min.js", import.meta.url);

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

// scripts of the page, as text: the tests are checked without the types of browsers
const REPORT = `document.addEventListener("securitypolicyviolation", (event) =>
  reportViolation([event.violatedDirective, event.blockedURI, event.sample].join(" ")))`;
const FIND_VIOLATIONS = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`;
const EXCESS_WIDTH = "document.documentElement.scrollWidth - window.innerWidth";

/** One browser with an empty profile of its own, for the whole test file. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(PROGRAM))
    throw new Error(`The console is tested in Chromium, and there is none at ${PROGRAM}: apt-get install -y chromium`);
  const browser = await chromium.launch({ executablePath: PROGRAM, chromiumSandbox: false, args: ARGS.split(" ") });
  afterFile(() => browser.close());
  return browser;
}

interface Visit {
  page: Page;
  context: BrowserContext;
  /** Violations of the content security policy, and errors on the page's console. */
  problems: string[];
}

/** A new visitor without cookies. */
export async function visit(browser: Browser, { viewport = DESKTOP } = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport, reducedMotion: "reduce" });
  const page = await context.newPage();
  const problems: string[] = [];
  await context.exposeFunction("reportViolation", (text: string) => problems.push(text));
  await context.addInitScript({ content: REPORT });
  page.on("pageerror", (error) => problems.push(String(error)));
  return { page, context, problems };
}

/** Opens a path of the console as the first administrator, by a one-time link. */
export async function openAs({ page }: Visit, { base, startCodes, credentials }: Service, path = ""): Promise<void> {
  const { organization_id, admin } = credentials;
  await page.goto(`${base}/console/${path}#start=${startCodes!.create({ organization_id, email: admin.email })}`);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
}

/** axe-core finds nothing to object to. It is evaluated by the debugger, which the page's policy does not bind. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(await readFile(AXE, "utf8"));
  const violations = await page.evaluate(FIND_VIOLATIONS);
  expect(violations, page.url()).toEqual([]);
}

/** Nothing is cut off or scrolls sideways. */
export async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate(EXCESS_WIDTH), page.url()).toBeLessThanOrEqual(0);
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
    if (!PICTURES) continue;
    await mkdir(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${viewport.width}-${theme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(DESKTOP);
}
