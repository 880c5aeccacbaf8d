import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { streamOf } from "#events/ids.ts";
import { traceIdOf } from "#events/trace.ts";
import { startCollector, type Collector, type ToldSpan } from "../doubles/collector.ts";
import { startProvider, type Provider } from "../doubles/provider.ts";
import { startProcess } from "../faults/processes.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { testFolder } from "../harness.ts";

/* What a collector is told of a request that two processes work on, and what they load for it. */

const CANARY = "canary words";
const KEY = "sk-canary-0123456789abcdef";
const WATCH = `--import ${fileURLToPath(new URL("./watchModules.ts", import.meta.url))}`;

let collector: Collector;
let provider: Provider;
beforeAll(async () => {
  [collector, provider] = await Promise.all([startCollector(), startProvider()]);
});
afterAll(() => Promise.all([collector.close(), provider.close()]));

/** Processes of http and of services, each watched for what it loads, and the follower of the log in this one. */
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
    eventsOf: (thread: string) => followers.opened.log.read(streamOf("thread", thread)),
    /** Packages of OpenTelemetry that a process has loaded. */
    loaded: (role: string) => [
      ...new Set(readFileSync(modules(role), "utf8").match(/(?<=node_modules\/@opentelemetry\/)[^/]+/g) ?? []),
    ],
  };
}
type Deployed = Awaited<ReturnType<typeof deploy>>;

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const complete = async ({ chat }: Deployed, headers: Record<string, string>, more: object = {}) => {
  const messages = [{ role: "user", content: CANARY }];
  const answer = await chat("POST", "/chat/completions", { model: "openai/gpt-test", messages, ...more }, headers);
  return { ...answer, thread: answer.headers.get("x-thread-id")! };
};
const sentTo = () =>
  provider.requests.filter(({ method }) => method === "POST").at(-1)!.headers["traceparent"] as string;

describe("with a collector", () => {
  let deployed: Deployed;
  beforeAll(async () => {
    deployed = await deploy({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "assistants" });
  });
  const toldOf = async (trace_id: string, count: number): Promise<ToldSpan[]> => {
    await expect.poll(() => collector.of(trace_id).length, { timeout: 20_000 }).toBe(count);
    return collector.of(trace_id);
  };
  const one = (spans: ToldSpan[], name: string): ToldSpan => {
    const found = spans.filter((span) => span.name === name);
    expect(found, name).toHaveLength(1);
    return found[0]!;
  };

  test("a chat request is one trace of spans that lie within each other, across processes", async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const { status, thread } = await complete(deployed, { traceparent, tracestate: "vendor=opaque" });
    expect(status).toBe(200);
    const spans = await toldOf(TRACE, 5);
    const request = one(spans, "POST /api/openai/v1/chat/completions");
    const start = one(spans, "handle StartTurn");
    const turn = one(spans, "turn");
    const model = one(spans, "chat gpt-test");
    const end = one(spans, "handle CompleteTurn");
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
    expect(sentTo()).toBe(`00-${TRACE}-${model.span_id}-01`);

    const processes = spans.map(({ resource }) => resource);
    expect(new Set(processes.map((resource) => resource["service.name"]))).toEqual(new Set(["assistants"]));
    expect(new Set(processes.map((resource) => resource["svc.role"]))).toEqual(new Set(["http", "services"]));
    expect(new Set(processes.map((resource) => resource["service.instance.id"])).size).toBe(2);

    const [started, completed] = await deployed.eventsOf(thread);
    expect(started!.meta.traceparent).toBe(`00-${TRACE}-${start.span_id}-01`);
    expect(completed!.meta.traceparent).toBe(`00-${TRACE}-${end.span_id}-01`);
  });

  test("tools and what fails have spans too, and a request without a trace begins one", async () => {
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
    const trace_id = traceIdOf(sentTo())!;
    const spans = await toldOf(trace_id, 9);
    const turn = one(spans, "turn");
    const tool = one(spans, "execute_tool web_fetch");
    expect(tool).toMatchObject({ parent: turn.span_id, status: 2, attributes: { "gen_ai.tool.name": "web_fetch" } });
    const models = spans.filter(({ name }) => name === "chat gpt-test");
    expect(models.map((span) => [span.parent, span.status, span.attributes["error.type"]])).toEqual([
      [turn.span_id, 0, undefined],
      [turn.span_id, 2, "400"],
    ]);
    const request = one(spans, "POST /api/openai/v1/chat/completions");
    expect(request).toMatchObject({ parent: "", status: 2, attributes: { "error.type": "502" } });
  });

  test("a trace that its client does not record is not recorded here", async () => {
    const trace_id = "d".repeat(32);
    const { status } = await complete(deployed, { traceparent: `00-${trace_id}-${PARENT}-00` });
    expect([status, sentTo()]).toEqual([200, expect.stringMatching(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-00$`))]);
    // what comes later has been told, and of this one there is nothing
    await complete(deployed, { traceparent: `00-${"e".repeat(32)}-${PARENT}-01` });
    await toldOf("e".repeat(32), 5);
    expect(collector.of(trace_id)).toEqual([]);
  });

  test("no word of a person, no secret and no address is told", () => {
    const told = JSON.stringify(collector.requests.map(({ body }) => body));
    expect(told).toContain("gpt-test");
    for (const word of [CANARY, ...deployed.secrets]) expect(told).not.toContain(word);
    expect(collector.spans().some(({ name }) => /healthz|readyz|metrics/.test(name))).toBe(false);
  });

  test("OpenTelemetry is loaded", () => {
    for (const role of ["http", "services"]) expect(deployed.loaded(role)).toContain("sdk-trace");
  });
});

test("without a collector nothing of OpenTelemetry but its API is loaded, and the trace is there all the same", async () => {
  const deployed = await deploy({});
  const traceparent = `00-${"f".repeat(32)}-${PARENT}-01`;
  const { status, thread } = await complete(deployed, { traceparent });
  expect([status, sentTo()]).toEqual([200, traceparent]);
  const events = await deployed.eventsOf(thread);
  expect(events.map(({ meta }) => meta.traceparent)).toEqual([traceparent, traceparent]);
  // the client of Prometheus brings the API along
  for (const role of ["http", "services"]) expect(deployed.loaded(role).filter((name) => name !== "api")).toEqual([]);
});

test("a collector that is away takes nothing from anybody", async () => {
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
