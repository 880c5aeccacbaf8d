import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { parseTraceId } from "#events/trace.ts";
import { startCollector, type ToldSpan } from "../doubles/collector.ts";
import { startOpenai } from "../doubles/openai.ts";
import { startProcess } from "../faults/processes.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { testFolder } from "../harness.ts";

/* The spans that a collector receives of a request that two processes handle, and the modules that they load. */

const CANARY = "canary words";
const KEY = "sk-canary-0123456789abcdef";
const WATCH = `--import ${fileURLToPath(new URL("./watchModules.ts", import.meta.url))}`;

const [collector, provider] = await Promise.all([startCollector(), startOpenai()]);
afterAll(() => Promise.all([collector.close(), provider.close()]));

/** Starts an http and a services process, records the modules that each loads, and runs the projections in this process. */
async function deploy(env: Record<string, string>) {
  const [deployment, folder] = [await testDeployment(), await testFolder()];
  const followers = await startPlatform({ roles: ["projections"], deployment });
  const modules = (role: string) => join(folder, role);
  const start = (role: "http" | "services") =>
    startProcess(role, deployment, {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: provider.url,
      NODE_OPTIONS: WATCH,
      MODULES_TO: modules(role),
      ...env,
    });
  const [http] = await Promise.all([start("http"), start("services")]);
  const { api_key, admin } = await followers.organization(CANARY);
  return {
    chat: clientOf({ chat: `${http.url}/api/openai/v1` }, api_key),
    secrets: [api_key, KEY, admin.email, admin.password],
    eventsOf: (thread: string) => followers.resources.log.read(streamName("thread", thread)),
    /** OpenTelemetry packages that a process has loaded. */
    loaded: (role: string) => [
      ...new Set(readFileSync(modules(role), "utf8").match(/(?<=node_modules\/@opentelemetry\/)[^/]+/g) ?? []),
    ],
  };
}
type Deployment = Awaited<ReturnType<typeof deploy>>;

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const complete = async ({ chat }: Deployment, headers: Record<string, string>, more: object = {}) => {
  const messages = [{ role: "user", content: CANARY }];
  const answer = await chat("POST", "/chat/completions", { model: "openai/gpt-test", messages, ...more }, headers);
  return { ...answer, thread: answer.headers.get("x-thread-id")! };
};
const lastTraceparent = () =>
  provider.requests.filter(({ method }) => method === "POST").at(-1)!.headers["traceparent"] as string;

describe("with a collector", () => {
  let deployed: Deployment;
  beforeAll(async () => {
    deployed = await deploy({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "assistants" });
  });
  const waitForSpans = async (trace_id: string, count: number): Promise<ToldSpan[]> => {
    await expect.poll(() => collector.of(trace_id).length).toBe(count);
    return collector.of(trace_id);
  };
  const findSpan = (spans: ToldSpan[], name: string): ToldSpan => {
    const found = spans.filter((span) => span.name === name);
    expect(found, name).toHaveLength(1);
    return found[0]!;
  };

  test("a chat request is one trace of nested spans across processes", async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const { status, thread } = await complete(deployed, { traceparent, tracestate: "vendor=opaque" });
    expect(status).toBe(200);
    const spans = await waitForSpans(TRACE, 5);
    const request = findSpan(spans, "POST /api/openai/v1/chat/completions");
    const start = findSpan(spans, "handle StartTurn");
    const turn = findSpan(spans, "turn");
    const model = findSpan(spans, "chat gpt-test");
    const end = findSpan(spans, "handle CompleteTurn");
    expect([request, start, turn, model, end].map(({ parent }) => parent)).toEqual([
      PARENT,
      request.span_id,
      start.span_id,
      turn.span_id,
      turn.span_id,
    ]);
    expect([request, start, turn, model, end].map(({ kind }) => kind)).toEqual([2, 5, 1, 3, 1]);
    expect(spans.map(({ status, state }) => [status, state])).toEqual(spans.map(() => [0, "vendor=opaque"]));
    expect(request.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/api/openai/v1/chat/completions",
      "http.response.status_code": 200,
    });
    expect(model.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-test",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.response.finish_reasons": ["stop"],
    });
    expect(turn.attributes).toMatchObject({ "svc.thread_id": thread, "svc.attempt": 1, "svc.status": "completed" });
    expect(lastTraceparent()).toBe(`00-${TRACE}-${model.span_id}-01`);

    const processes = spans.map(({ resource }) => resource);
    expect(new Set(processes.map((resource) => resource["service.name"]))).toEqual(new Set(["assistants"]));
    expect(new Set(processes.map((resource) => resource["svc.role"]))).toEqual(new Set(["http", "services"]));
    expect(new Set(processes.map((resource) => resource["service.instance.id"])).size).toBe(2);

    const [started, completed] = await deployed.eventsOf(thread);
    expect(started!.meta.traceparent).toBe(`00-${TRACE}-${start.span_id}-01`);
    expect(completed!.meta.traceparent).toBe(`00-${TRACE}-${end.span_id}-01`);
  });

  test("tools and failures have spans, and a request without a traceparent starts a trace", async () => {
    provider.script(({ body }) =>
      body.messages.some(({ role }: any) => role === "tool")
        ? { status: 400, body: { error: { message: CANARY } } }
        : { tool_calls: [{ name: "web_fetch", arguments: { url: `http://10.0.0.1/${encodeURI(CANARY)}` } }] },
    );
    const { status, text } = await complete(
      deployed,
      {},
      { tools: [{ type: "function", function: { name: "web_fetch" } }] },
    );
    provider.script(() => undefined);
    expect(status, text).toBe(502);
    const trace_id = parseTraceId(lastTraceparent())!;
    const spans = await waitForSpans(trace_id, 9);
    const turn = findSpan(spans, "turn");
    const tool = findSpan(spans, "execute_tool web_fetch");
    expect(tool).toMatchObject({ parent: turn.span_id, status: 2, attributes: { "gen_ai.tool.name": "web_fetch" } });
    const models = spans.filter(({ name }) => name === "chat gpt-test");
    expect(models.map((span) => [span.parent, span.status, span.attributes["error.type"]])).toEqual([
      [turn.span_id, 0, undefined],
      [turn.span_id, 2, "400"],
    ]);
    const request = findSpan(spans, "POST /api/openai/v1/chat/completions");
    expect(request).toMatchObject({ parent: "", status: 2, attributes: { "error.type": "502" } });
  });

  test("a trace that its client does not sample is not recorded", async () => {
    const trace_id = "d".repeat(32);
    const { status } = await complete(deployed, { traceparent: `00-${trace_id}-${PARENT}-00` });
    expect([status, lastTraceparent()]).toEqual([
      200,
      expect.stringMatching(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-00$`)),
    ]);
    // a later trace has arrived, and nothing of this one
    await complete(deployed, { traceparent: `00-${"e".repeat(32)}-${PARENT}-01` });
    await waitForSpans("e".repeat(32), 5);
    expect(collector.of(trace_id)).toEqual([]);
  });

  test("spans contain no personal data, no secret and no health request", () => {
    const sent = JSON.stringify(collector.requests.map(({ body }) => body));
    expect(sent).toContain("gpt-test");
    for (const word of [CANARY, ...deployed.secrets]) expect(sent).not.toContain(word);
    expect(collector.spans().some(({ name }) => /healthz|readyz|metrics/.test(name))).toBe(false);
  });

  test("OpenTelemetry is loaded", () => {
    for (const role of ["http", "services"]) expect(deployed.loaded(role)).toContain("sdk-trace");
  });
});

test("without a collector only OpenTelemetry's API is loaded, and the trace still propagates", async () => {
  const deployed = await deploy({});
  const traceparent = `00-${"f".repeat(32)}-${PARENT}-01`;
  const { status, thread } = await complete(deployed, { traceparent });
  expect([status, lastTraceparent()]).toEqual([200, traceparent]);
  const events = await deployed.eventsOf(thread);
  expect(events.map(({ meta }) => meta.traceparent)).toEqual([traceparent, traceparent]);
  // the Prometheus client loads the API
  for (const role of ["http", "services"]) expect(deployed.loaded(role).filter((name) => name !== "api")).toEqual([]);
});

test("chat requests succeed while the collector is unreachable", async () => {
  const gone = await startCollector();
  await gone.close();
  const platform = await startPlatform({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: gone.url, OPENAI_API_KEY: KEY, OPENAI_BASE_URL: provider.url },
  });
  const { api_key } = await platform.organization();
  const chat = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
  const answers = await Promise.all(
    Array.from({ length: 300 }, () =>
      chat("POST", "/chat/completions", { model: "openai/gpt-test", messages: [{ role: "user", content: "Hello" }] }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await platform.stop();
});
