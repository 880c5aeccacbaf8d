import { expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON, WAITING } from "../workflows/tenant.ts";
import { LONG_NAME, openConsole, PHONE } from "./browser.ts";

/* The navigation takes a third of a tablet, so the screen beside it has as little room as on a phone. */

const TABLET = { width: 768, height: 1024 };
/** Tables that scroll sideways, and lines of steps whose ends are out of sight. */
const CUT_OFF = `[
  ...[...document.querySelectorAll(".table")].filter((table) => table.scrollWidth > table.clientWidth),
  ...[...document.querySelectorAll(".step-line")].filter((line) => line.scrollWidth > line.clientWidth),
].map(({ textContent }) => textContent.slice(0, 80))`;

/** Cells with content that are not visible, by the title of their column. */
const LEFT_OUT = `[...document.querySelectorAll(".table td:not(:empty)")]
  .filter((cell) => cell.offsetWidth === 0 || cell.offsetHeight === 0)
  .map((cell) => cell.dataset.title)`;

test.each([
  ["a tablet", TABLET],
  ["a phone", PHONE],
])("on %s every fact, button, cost and time of a list is visible", async (_, viewport) => {
  const { tenant, open } = await openConsole();
  await tenant.made(tenant.owner("PUT", "/budgets/organization", { tokens_per_day: 100_000, cost_per_month: "12.5" }));
  await tenant.made(tenant.owner("PUT", "/prices/offline/echo", { prices: [{ input: "0.5", output: "1.25" }] }));
  await tenant.made(tenant.owner("POST", "/agents", { name: LONG_NAME.slice(0, 200), model: "offline/extractive" }));
  const answer = await tenant.key("POST", "/openai/v1/chat/completions", say("Hello"));
  const workflow = await tenant.register(WAITING);
  await tenant.hook(workflow, { name: "shop" });
  const run = await tenant.start(workflow);
  await tenant.pending(run);
  const turn = answer.body.id.replace("chatcmpl-", "");
  const page = await open("", { viewport });
  const paths = ["spending", "spending?section=prices", "agents", "keys", "members", "usage?by=key&measure=cost"];
  for (const path of [...paths, `workflows/${workflow.id}`, "runs", "requests", `requests/${turn}`, `runs/${run}`]) {
    await page.goto(`${tenant.url}/console/${path}`);
    await page.locator(".table, .step-line").first().waitFor();
    await expect.poll(() => page.evaluate(CUT_OFF), { ...SOON, message: path }).toEqual([]);
    expect(await page.evaluate(LEFT_OUT), path).toEqual([]);
  }
});
