import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERROR_STATUS } from "#events/errorCodes.ts";
import { eventDefinitions } from "#events/index.ts";
import type { ErrorBody } from "#http/base/errors.ts";
import { ERROR_EXAMPLES } from "#http/meta/errorExamples.ts";
import { settingNames } from "#infra/config.ts";
import { EVENTS_PAGE, renderEventsPage } from "./eventsPage.ts";
import { LIMITS, PARSER_LIMIT_CODES, CONFIGURED_LIMIT_CODES } from "./limits.ts";
import { LIMITS_PAGE, renderLimitsPage } from "./limitsPage.ts";
import { renderSettingsPage, SETTINGS_PAGE } from "./settingsPage.ts";

/* The reference pages say what the code says. */

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("docs/reference/errors.md has every error code of the service, with its status", () => {
  const rows = [...read("docs/reference/errors.md").matchAll(/^\| `(\w+)` \| (\d{3}) \| .{10,} \|$/gm)];
  const described = new Map(rows.map(([, code = "", status]) => [code, Number(status)]));
  expect(described.size).toBe(rows.length);
  expect(Object.fromEntries(described)).toEqual(ERROR_STATUS);
});

test("every code in the recorded examples of errors is an error code of the service", () => {
  const bodies = Object.values(ERROR_EXAMPLES.examples) as ErrorBody[];
  const codes = new Set(bodies.flatMap(({ error: { code } }) => code ?? []));
  expect([...codes].filter((code) => !(code in ERROR_STATUS))).toEqual([]);
  expect(codes.size).toBeGreaterThan(50);
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

test("docs/reference/limits.md is made from the limits as they are now: run `node dev/checks/freeze.ts`", () => {
  expect(readFileSync(LIMITS_PAGE, "utf8")).toBe(renderLimitsPage());
});

test("every error code of a limit has a row in docs/reference/limits.md, and every code in it exists", () => {
  const rows = Object.values(LIMITS).flat();
  const codes = new Set([...rows.flatMap(({ code }) => code || []), ...CONFIGURED_LIMIT_CODES, ...PARSER_LIMIT_CODES]);
  const ofLimits = Object.keys(ERROR_STATUS).filter((code) =>
    /^too_many_|_too_large$|_limit_reached$|_limited$|^budget_exceeded$/.test(code),
  );
  expect(ofLimits.filter((code) => !codes.has(code))).toEqual([]);
  expect([...codes].filter((code) => !(code in ERROR_STATUS))).toEqual([]);
  expect(ofLimits.length).toBeGreaterThan(20);
});
