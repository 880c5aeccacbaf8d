import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { writePdf, stream } from "#services/reading/pdf/writePdf.ts";
import { openReader } from "../knowledge/library.ts";
import { SOON } from "../soon.ts";
import { inspect, openConsole, PHONE } from "./browser.ts";

/* Files as they are, beside their text. */

const HANDBOOK = readFileSync(new URL("../../examples/handbook.pdf", import.meta.url));
const file = (name: string) => readFileSync(new URL(`../files/${name}`, import.meta.url));

const { tenant, open, newPage } = await openConsole();
const reader = openReader(tenant.url, tenant.credentials.api_key);
const shelf = await reader.collect("Originals");

const keep = async (name: string, content: Buffer): Promise<string> =>
  (await reader.keep(shelf, { content: Buffer.from(content), name })).id;

const INK = `(() => {
  const canvas = document.querySelector("canvas");
  if (!canvas) return 0;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] < 128) ink++;
  return ink;
})()`;
/** Dark pixels of the page that is drawn; 0 until then. */
const inkOf = async (page: Page): Promise<number> => {
  const frame = page.frames().find((one) => one.url().includes("/pdf/frame.html"));
  return frame ? frame.evaluate<number>(INK) : 0;
};

describe("a PDF", () => {
  test("is shown beside its text, at the page of the passage, and can be paged through", async () => {
    const id = await keep("handbook.pdf", HANDBOOK);
    const page = await open(`knowledge/documents/${id}?page=2`);
    await page.getByText(/^Page 2 of \d+$/).waitFor();
    await expect.poll(() => inkOf(page), SOON).toBeGreaterThan(500);
    await page.getByRole("navigation", { name: "View" }).getByRole("link", { name: "Text and original" }).waitFor();
    expect(await page.locator("mark").count()).toBeGreaterThan(0);
    await inspect(page, "original");
    await page.getByRole("button", { name: "Previous page" }).click();
    await page.getByText(/^Page 1 of \d+$/).waitFor();
    await page.getByRole("link", { name: "Text", exact: true }).click();
    await expect.poll(() => page.locator("iframe").count(), SOON).toBe(0);
    expect(page.url()).toContain("view=text");
  });

  test("is shown only on request on a phone", async () => {
    const id = await keep("guide.pdf", file("guide.pdf"));
    const page = await open(`knowledge/documents/${id}`, { viewport: PHONE });
    await page.getByRole("link", { name: "Text and original" }).waitFor();
    expect(await page.locator("iframe").count()).toBe(0);
    await page.getByRole("link", { name: "Text and original" }).press("Enter");
    await expect.poll(() => inkOf(page), SOON).toBeGreaterThan(500);
  });

  test("runs no script, opens no link, and opens nothing by itself", async () => {
    const address = "https://example.com/stolen";
    const hostile = writePdf([
      "<</Type/Catalog/Pages 2 0 R/OpenAction 5 0 R/Names<</JavaScript<</Names[(a) 5 0 R]>>>>>>",
      "<</Type/Pages/Kids[3 0 R]/Count 1>>",
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 6 0 R>>>>/AA<</O 5 0 R>>
        /Annots[<</Type/Annot/Subtype/Link/Rect[0 0 300 200]/A<</S/URI/URI(${address})>>>>
        <</Type/Annot/Subtype/Widget/FT/Tx/T(x)/Rect[0 0 90 90]/AA<</K 5 0 R/E 5 0 R>>>>]>>`,
      stream("BT /F 40 Tf 10 90 Td (Harmless words) Tj ET"),
      `<</S/JavaScript/JS(app.launchURL\\("${address}"\\);reportViolation\\("ran"\\))>>`,
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]);
    const id = await keep("hostile.pdf", hostile);
    const page = await open(`knowledge/documents/${id}?view=both`);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("popup", (popup) => asked.push(popup.url()));
    await expect.poll(() => inkOf(page), SOON).toBeGreaterThan(200);
    await page.locator("iframe").click({ position: { x: 60, y: 60 } });
    await page.keyboard.press("Enter");
    await page.reload();
    await expect.poll(() => inkOf(page), SOON).toBeGreaterThan(200);
    expect(asked.filter((url) => !url.startsWith(tenant.url))).toEqual([]);
    const frame = page.frames().find((one) => one.url().includes("frame.html"))!;
    expect(await frame.locator("a, script:not([src]), input").count()).toBe(0);
    expect(page.url()).toContain(id);
  });

  test("that cannot be rendered leaves the text", async () => {
    const id = await keep("handbook-2.pdf", Buffer.concat([HANDBOOK, Buffer.from("\n% another")]));
    const page = await open("knowledge");
    await page.route("**/content", (route) =>
      route.request().method() === "GET" ? route.fulfill({ body: "no PDF at all" }) : route.continue(),
    );
    await page.goto(`${tenant.url}/console/knowledge/documents/${id}`);
    await page.getByText("The original cannot be shown here, only its text.").waitFor();
    await page.locator(".document-text").waitFor();
    await inspect(page, "original-broken");
  });

  test("is refused to the frame without a session, and no other site may embed the frame", async () => {
    const page = await newPage();
    const answer = await page.goto(`${tenant.url}/console/pdf/frame.html#00000000-0000-0000-0000-000000000000/1`);
    const policy = answer!.headers()["content-security-policy"]!;
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'self'",
      "trusted-types pdf-worker",
    ])
      expect(policy.split("; ")).toContain(rule);
    expect(await page.locator("canvas").count()).toBe(0);
  });
});

describe("a picture", () => {
  test("is shown beside its text, and a picture that browsers cannot show is left out", async () => {
    const id = await keep("notice.png", file("notice.png"));
    const page = await open(`knowledge/documents/${id}?view=both`);
    const picture = page.getByRole("img", { name: "The original of notice.png" });
    await picture.waitFor();
    await expect.poll(() => page.evaluate("document.querySelector('.picture').naturalWidth"), SOON).toBeGreaterThan(10);
    await inspect(page, "original-picture");
    const tiff = await keep("notice.tiff", file("notice.tiff"));
    await page.goto(`${tenant.url}/console/knowledge/documents/${tiff}`);
    await page.locator(".document-text").waitFor();
    expect(await page.getByRole("navigation", { name: "View" }).count()).toBe(0);
  });
});
