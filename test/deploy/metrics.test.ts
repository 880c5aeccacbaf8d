import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { clientOf, say, startService } from "../http/service.ts";

const read = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

const page = readFileSync(new URL("../../docs/alerts.md", import.meta.url), "utf8");

/** Label names by metric, from a running service. */
let labels: Map<string, Set<string>>;
/** The first words of the names of what /readyz checks, from the same service. */
let checks: Set<string>;
beforeAll(async () => {
  const service = await startService();
  const health = (await (await fetch(`${service.base}/readyz`)).json()) as { checks: Record<string, unknown> };
  checks = new Set(Object.keys(health.checks).map((name) => name.split(" ")[0]!));
  const call = clientOf(service, service.credentials.api_key);
  await call("POST", "/chat/completions", say("Hello"));
  labels = new Map();
  const text = await (await fetch(`${service.base}/metrics`)).text();
  for (const [, name, inner = ""] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)) {
    const found = labels.get(name!) ?? new Set();
    for (const [, label] of inner.matchAll(/(\w+)="/g)) found.add(label!);
    labels.set(name!, found);
  }
});

const KEYWORDS = new Set(["by", "and", "or", "unless"]);

/** The metrics of a PromQL expression, with the labels that it matches and groups by. */
function parseExpression(expr: string) {
  const matched = [...expr.matchAll(/([a-z_]+)\{([^}]*)\}/g)].flatMap(([, name, inner]) =>
    [...inner!.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => ({ name: name!, label: label! })),
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner]) => inner!.split(/,\s*/));
  const bare = expr.replace(/\bby \([^)]*\)|\{[^}]*\}|\[[^\]]*\]/g, " ");
  const metrics = [...bare.matchAll(/\b[a-z_]+\b(?!\s*\()/g)]
    .map(([word]) => word)
    .filter((word) => !KEYWORDS.has(word));
  return { metrics, matched, grouped };
}

const dashboard = JSON.parse(read("dashboard.json")) as { panels: { title: string; targets: { expr: string }[] }[] };
const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
const alerts = [...read("alerts.yml").matchAll(/- alert: (\w+)\n\s+expr: (.+)$/gm)].map(([, title, expr]) => ({
  title: title!,
  expr: expr!,
}));

test("the test finds the dashboard's panels and the alerts", () => {
  expect(panels.length).toBeGreaterThan(9);
  expect(alerts.length).toBe(read("alerts.yml").match(/alert:/g)!.length);
});

test("each alert has a documentation page, and each page an alert", () => {
  const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(sections.toSorted()).toEqual(alerts.map(({ title }) => title).toSorted());
});

test("the page of DependencyDown names every check of /readyz that may fail", async () => {
  const table = page.slice(page.indexOf("## DependencyDown"), page.indexOf("## FollowerBehind"));
  const known = new Set([...table.matchAll(/^\| `([a-z]+)/gm)].map(([, name]) => name));
  const never = ["disk"];
  expect([...checks].filter((name) => !known.has(name) && !never.includes(name))).toEqual([]);
});

test.each([...panels, ...alerts])("$title uses only metrics and labels of the service: $expr", ({ expr }) => {
  const { metrics, matched, grouped } = parseExpression(expr);
  expect(metrics.length).toBeGreaterThan(0);
  for (const name of metrics) expect(labels.keys()).toContain(name);
  for (const { name, label } of matched) expect(labels.get(name)).toContain(label);
  for (const label of grouped) for (const name of metrics) expect(labels.get(name)).toContain(label);
});

test("unknown metrics and labels of an expression are found", () => {
  expect(parseExpression('sum by (kind) (rate(no_such_total{who="me"}[5m])) / other > 0.5')).toEqual({
    metrics: ["no_such_total", "other"],
    matched: [{ name: "no_such_total", label: "who" }],
    grouped: ["kind"],
  });
});
