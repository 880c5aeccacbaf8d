import { expect, test } from "vitest";
import { pdfOf, show } from "#services/reading/pdf/testing/build.ts";
import { fileForm } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { agreeToAll, HOSTILE, inspect, openConsole, PHONE } from "./browser.ts";

/* Files that are only turned into text: sent, read, looked at, deleted. */

const { tenant, open } = await openConsole();

test("files are sent, and their text, warnings and failures are shown and deleted", async () => {
  const page = await open("extractions");
  agreeToAll(page);
  await page.getByRole("heading", { name: "No file was turned into text within a day" }).waitFor();
  await inspect(page, "extractions-empty");
  const text = `# Title\n\nSome **strong** words.\n\n${HOSTILE}\n`;
  await page.getByLabel("Drop files here, or choose them").setInputFiles([
    { name: "words.md", mimeType: "text/markdown", buffer: Buffer.from(text) },
    {
      name: "part.pdf",
      mimeType: "application/pdf",
      buffer: Buffer.from(pdfOf([show(72, 700, 10, "The keeper paints the railing."), ""])),
    },
    { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\nnothing\n") },
  ]);
  await expect.poll(() => page.getByText("ready", { exact: true }).count(), SOON).toBe(3);
  await page.getByText("failed", { exact: true }).last().waitFor();
  await page.getByText("read with warnings").waitFor();
  await inspect(page, "extractions");
  await page.getByRole("link", { name: "words.md" }).click();
  await page.locator(".words strong", { hasText: "strong" }).waitFor();
  await page.getByText(HOSTILE).waitFor();
  await inspect(page, "extraction");
  await page.getByRole("button", { name: "Raw text" }).click();
  await page.getByText("Some **strong** words.").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await expect.poll(() => page.getByRole("link", { name: "words.md" }).count(), SOON).toBe(0);
  await page.getByRole("navigation", { name: "Status" }).getByRole("link", { name: "failed" }).click();
  await page.getByRole("link", { name: "broken.pdf" }).click();
  await page.getByText("Correct the file and").waitFor();
  await inspect(page, "extraction-failed");
  expect((await tenant.made(tenant.owner("GET", "/extractions?status=ready"))).total).toBe(1);
});

test("extractions of a program appear live on a phone, and the page of an expired one says that it expired", async () => {
  const page = await open("extractions", { viewport: PHONE });
  await page.getByRole("heading", { name: "Extractions" }).waitFor();
  const form = fileForm("a,b\n1,2\n", "sent.csv", { type: "text/csv" });
  expect((await tenant.key("POST", "/v1/extractions", form)).status).toBe(202);
  await page.getByRole("link", { name: "sent.csv" }).click();
  await page.getByRole("group", { name: "Table" }).waitFor();
  const gone = await open("extractions/0198c0de-0000-7000-8000-000000000000");
  await gone.getByRole("alert").getByText("code extraction_not_found").waitFor();
});

test("a file whose connection broke off is sent again by a button, and the page does not promise to do so itself", async () => {
  const page = await open("extractions");
  await page.route("**/v1/extractions", (route) => route.abort());
  const note = { name: "cut.md", mimeType: "text/markdown", buffer: Buffer.from("# Cut off") };
  await page.getByLabel("Drop files here, or choose them").setInputFiles(note);
  await page.getByRole("alert").getByText("The connection was lost.").waitFor();
  expect(await page.getByText("by itself").count()).toBe(0);
  await page.unroute("**/v1/extractions");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("1 of 1 file sent").waitFor();
  await page.getByRole("link", { name: "cut.md" }).waitFor();
});
