import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventDefinitions } from "#events/index.ts";
import { statusForCode } from "#http/base/errors.ts";
import { settingNames } from "#infra/config.ts";
import { EVENTS_PAGE, renderEventsPage } from "./eventsPage.ts";
import { renderSettingsPage, SETTINGS_PAGE } from "./settingsPage.ts";

/* The reference pages say what the code says. */

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Those with a status of their own, and those that are literals of the calls which make errors. */
async function codesOfTheService(): Promise<Set<string>> {
  const listed = [...read("http/base/errors.ts").matchAll(/^ {2}(\w+): \d{3},$/gm)].map(([, code = ""]) => code);
  const codes = new Set(listed);
  for await (const path of glob("{http,services,infra}/**/*.ts", {
    cwd: root,
    exclude: (name) => name.endsWith(".test.ts"),
  }))
    for (const [, code = ""] of read(path).matchAll(/new (?:ApiError|Rejection)\(\s*"([a-z_]+)"/g)) codes.add(code);
  return codes;
}

/** Answers to commands that the service sends by itself, or twice with one id: no client meets them. */
const INTERNAL = /^(already_processing|organization_not_found|(?!definition|already)\w+_exists)$/;

test("docs/reference/errors.md has every code that the service can send, with its status", async () => {
  const rows = [...read("docs/reference/errors.md").matchAll(/^\| `(\w+)` \| (\d{3}) \| .{10,} \|$/gm)];
  const described = new Map(rows.map(([, code = "", status]) => [code, Number(status)]));
  expect(described.size).toBe(rows.length);
  const codes = await codesOfTheService();
  expect(codes.size).toBeGreaterThan(100);
  expect([...codes].filter((code) => !INTERNAL.test(code) && !described.has(code))).toEqual([]);
  for (const [code, status] of described) expect([code, status]).toEqual([code, statusForCode(code)]);
});

test("docs/operating.md lists every setting", () => {
  const table = read("docs/operating.md").split("## Settings")[1]!.split("\n## ")[0]!;
  expect(settingNames.filter((name) => name !== "NODE_ENV" && !table.includes(`\`${name}\``))).toEqual([]);
});

test("docs/reference/events.md is made from the events as they are now: run `node dev/checks/freeze.ts`", () => {
  const page = readFileSync(EVENTS_PAGE, "utf8");
  expect(page).toBe(renderEventsPage());
  expect([...eventDefinitions.keys()].filter((type) => !page.includes(`| \`${type}\` |`))).toEqual([]);
});

test("docs/reference/settings.md is made from the settings as they are now: run `node dev/checks/freeze.ts`", () => {
  expect(readFileSync(SETTINGS_PAGE, "utf8")).toBe(renderSettingsPage());
});
