import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { clientOf, say, startService } from "../http/service.ts";

const read = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

/** Label names by metric, as a running service tells them. */
let labels: Map<string, Set<string>>;
beforeAll(async () => {
  const service = await startService();
  const call = clientOf(service, service.credentials.api_key);
  await call("POST", "/chat/completions", say("Hello"));
  labels = new Map();
  const told = await (await fetch(`${service.base}/metrics`)).text();
  for (const [, name, inner = ""] of told.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)) {
    const found = labels.get(name!) ?? new Set();
    for (const [, label] of inner.matchAll(/(\w+)="/g)) found.add(label!);
    labels.set(name!, found);
  }
});

const WORDS = new Set(["by", "and", "or", "unless"]);

/** What a PromQL expression asks of which metrics; one of them at a time may be grouped. */
function askedIn(expr: string) {
  const matched = [...expr.matchAll(/([a-z_]+)\{([^}]*)\}/g)].flatMap(([, name, inner]) =>
    [...inner!.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => ({ name: name!, label: label! })),
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner]) => inner!.split(/,\s*/));
  const bare = expr.replace(/\bby \([^)]*\)|\{[^}]*\}|\[[^\]]*\]/g, " ");
  const metrics = [...bare.matchAll(/\b[a-z_]+\b(?!\s*\()/g)].map(([word]) => word).filter((word) => !WORDS.has(word));
  return { metrics, matched, grouped };
}

const dashboard = JSON.parse(read("dashboard.json")) as { panels: { title: string; targets: { expr: string }[] }[] };
const shown = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
const alerts = [...read("alerts.yml").matchAll(/- alert: (\w+)\n\s+expr: (.+)$/gm)].map(([, title, expr]) => ({
  title: title!,
  expr: expr!,
}));

test("there are panels and alerts", () => {
  expect(shown.length).toBeGreaterThan(9);
  expect(alerts.length).toBe(read("alerts.yml").match(/alert:/g)!.length);
});

test.each([...shown, ...alerts])("$title asks for what the service tells: $expr", ({ expr }) => {
  const { metrics, matched, grouped } = askedIn(expr);
  expect(metrics.length).toBeGreaterThan(0);
  for (const name of metrics) expect(labels.keys()).toContain(name);
  for (const { name, label } of matched) expect(labels.get(name)).toContain(label);
  for (const label of grouped) for (const name of metrics) expect(labels.get(name)).toContain(label);
});

test("what nobody tells is seen", () => {
  expect(askedIn('sum by (kind) (rate(no_such_total{who="me"}[5m])) / other > 0.5')).toEqual({
    metrics: ["no_such_total", "other"],
    matched: [{ name: "no_such_total", label: "who" }],
    grouped: ["kind"],
  });
});
