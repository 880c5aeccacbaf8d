import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inSpan, openSpan, withTrace } from "#events/spans.ts";
import { startCollector, type Collector } from "#test/doubles/collector.ts";
import { startLoopback } from "#test/doubles/loopback.ts";
import { readSettings } from "../config.ts";
import { openTelemetry } from "./open.ts";

/** A batch of this size is exported at once. */
const BATCH = 512;

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.close());

async function open(env: Record<string, string> = {}) {
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const settings = readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, ...env });
  const telemetry = await openTelemetry({ settings, role: "test", instance: "one", logger });
  return { telemetry, lines };
}
const spans = async (count: number) => {
  for (let n = 0; n < count; n++) await inSpan(`s${n}`, { attributes: { n } }, async () => {});
};

test("closing telemetry exports the remaining spans, and records nothing afterwards", async () => {
  const { telemetry, lines } = await open();
  await spans(3);
  await telemetry.close();
  expect(collector.spans().map(({ name, attributes }) => [name, attributes])).toEqual([
    ["s0", { n: 0 }],
    ["s1", { n: 1 }],
    ["s2", { n: 2 }],
  ]);
  expect(collector.spans()[0]!.resource).toMatchObject({
    "service.name": "assistant-platform",
    "service.instance.id": "one",
    "svc.role": "test",
  });
  expect([openSpan("late", {}), lines]).toEqual([undefined, []]);
});

test("a collector that refuses spans is logged once, and once more when it accepts them again", async () => {
  const { telemetry, lines } = await open();
  collector.answer(400);
  for (const batch of [1, 2, 3]) {
    await spans(BATCH);
    await expect.poll(() => collector.requests.length).toBe(batch);
  }
  await expect.poll(() => lines.length).toBe(1);
  collector.answer(200);
  await spans(1);
  await telemetry.close();
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, "span export failing, spans dropped"],
    [30, "span export recovered"],
  ]);
});

/** Closes telemetry while one batch is in flight and another waits, and prints how long the process lived afterwards. */
const CLOSING_SCRIPT = `
  import { setTimeout as sleep } from "node:timers/promises";
  import pino from "pino";
  import { inSpan } from "#events/spans.ts";
  import { readSettings } from "#infra/config.ts";
  import { openTelemetry } from "#infra/telemetry/open.ts";
  const logger = pino({ level: "silent" });
  const telemetry = await openTelemetry({ settings: readSettings(process.env), role: "test", instance: "one", logger });
  await inSpan("first", {}, async () => {});
  await sleep(1_500);
  await inSpan("second", {}, async () => {});
  const from = Date.now();
  process.on("exit", () => process.stdout.write(String(Date.now() - from)));
  await telemetry.close();`;

test("a collector that hangs delays the end of the process by at most 2 s", async () => {
  const hanging = await startLoopback(() => new Promise(() => {}));
  const options = {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: hanging.origin },
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", CLOSING_SCRIPT],
    options,
  );
  expect(hanging.requests).toHaveLength(2);
  expect(Number(stdout)).toBeGreaterThan(500);
  // without the limit, the request would time out after 5 s
  expect(Number(stdout)).toBeLessThan(4_500);
  await hanging.close();
});

test("without a collector no span is recorded", async () => {
  const { telemetry } = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: "" });
  expect(openSpan("s", {})).toBeUndefined();
  await telemetry.close();
});

test.each<Record<string, string>>([{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }])(
  "with %j no span is recorded, even with an endpoint",
  async (env) => {
    const { telemetry } = await open(env);
    expect(openSpan("s", {})).toBeUndefined();
    await telemetry.close();
  },
);

test("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is used unchanged and takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT", async () => {
  const { telemetry } = await open({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/in?tenant=a` });
  await spans(1);
  await telemetry.close();
  expect(collector.requests.map(({ path }) => path)).toEqual(["/in?tenant=a"]);
});

test.each([
  ["always_on", "1", true, true],
  ["always_off", "1", false, false],
  ["traceidratio", "0", false, false],
  ["parentbased_always_on", "1", true, false],
  ["parentbased_always_off", "1", false, false],
  ["parentbased_traceidratio", "0", false, false],
  ["parentbased_traceidratio", "1", true, false],
])(
  "the sampler %s with the argument %s records root spans: %s, and traces that the client does not record: %s",
  async (name, arg, own, theirs) => {
    const { telemetry } = await open({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg });
    const sampled = () => inSpan("s", {}, async () => openSpan("inner", {})!.trace.sampled);
    const unrecorded = { trace_id: "a".repeat(32), span_id: "b".repeat(16), sampled: false };
    expect([await sampled(), await withTrace(unrecorded, sampled)]).toEqual([own, theirs]);
    await telemetry.close();
  },
);
