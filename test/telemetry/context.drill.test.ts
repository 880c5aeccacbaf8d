import { jetstream } from "@nats-io/jetstream";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { parseTraceId } from "#events/trace.ts";
import { openInspector } from "../bus/streams.ts";
import { startOpenai } from "../doubles/openai.ts";
import { clientOf } from "../http/service.ts";
import { openReader } from "../knowledge/library.ts";
import { openWorkflows, workflowSource } from "../workflows/harness.ts";

/* How a trace propagates from a request to all its effects, without span export. */

const provider = await startOpenai();
const w = await openWorkflows({ OPENAI_API_KEY: "sk-deployment", OPENAI_BASE_URL: provider.url });
const chat = clientOf({ chat: `${w.url}/api/openai/v1` }, w.home.credentials.api_key);
afterAll(() => provider.close());
beforeEach(() => provider.script(() => undefined));

let traces = 0;
/** A new trace of a client. */
const newTrace = () => {
  const trace_id = (++traces).toString(16).padStart(32, "c");
  return { trace_id, traceparent: `00-${trace_id}-00f067aa0ba902b7-01` };
};
const complete = async (headers: Record<string, string>, more: object = {}) => {
  const messages = [{ role: "user", content: "Hello" }];
  const answer = await chat("POST", "/chat/completions", { model: "openai/gpt-test", messages, ...more }, headers);
  expect(answer.status, answer.text).toBe(200);
  return { ...answer, thread: streamName("thread", answer.headers.get("x-thread-id")!) };
};
const readEvents = (stream: string) => w.resources.log.read(stream);
/** The distinct trace ids of a stream's events. */
const readTraceIds = async (stream: string) => [
  ...new Set((await readEvents(stream)).map(({ meta }) => parseTraceId(meta.traceparent))),
];
const providerCalls = () => provider.requests.filter(({ method }) => method === "POST");
const lastProviderHeaders = () => providerCalls().at(-1)!.headers;

describe("the trace of a request's traceparent", () => {
  test.each([{ stream: false }, { stream: true }])(
    "contains the turn's events and the provider call (streamed: $stream)",
    async (how) => {
      const { trace_id, traceparent } = newTrace();
      const { thread, headers } = await complete({ traceparent, tracestate: "vendor=opaque" }, how);
      await expect.poll(async () => (await readEvents(thread)).map(({ type }) => type)).toContain("TurnCompleted");
      expect(await readTraceIds(thread)).toEqual([trace_id]);
      expect(lastProviderHeaders()["traceparent"]).toBe(traceparent);
      expect(lastProviderHeaders()["tracestate"]).toBeUndefined();
      // responses have neither header
      expect([headers.get("traceparent"), headers.get("traceresponse")]).toEqual([null, null]);
    },
  );

  test("appears in the audit log, in the turn's trace and in the feed", async () => {
    const { trace_id, traceparent } = newTrace();
    const { body, thread } = await complete({ traceparent });
    const audit = await w.home.owner("GET", `/events?stream=${thread}`);
    expect(audit.body.data.map((event: any) => event.trace_id)).toEqual([trace_id, trace_id]);
    const turn = await w.home.owner("GET", `/turns/${body.id}/trace`);
    expect(turn.body).toMatchObject({ trace_id, request_id: expect.any(String), principal: expect.any(String) });
    expect(turn.body).not.toHaveProperty("traceparent");

    const bus = { url: w.resources.addresses.nats_url, prefix: w.settings.BUS_PREFIX };
    const inspector = await openInspector(bus);
    const consumer = await jetstream(inspector.nc).consumers.get(inspector.names.streams.events, {
      filter_subjects: `${bus.prefix}.evt.v1.${w.home.credentials.organization_id}.thread.TurnCompleted`,
    });
    let header: string | undefined;
    for await (const message of await consumer.consume()) {
      header = message.headers?.get("traceparent");
      if (message.json<{ stream: string }>().stream === thread) break;
    }
    await inspector.close();
    expect(header).toBe((await readEvents(thread)).at(-1)!.meta.traceparent);
    expect(header).toBe(traceparent);
  });

  test("contains every round of tools, but is not sent to web servers", async () => {
    const { trace_id, traceparent } = newTrace();
    const source = `export const meta = { description: "Asks", parameters: { type: "object", properties: {} }, secrets: [] };
      export async function execute(args, { fetch }) { return (await fetch("${w.site.url}/of-a-tool")).status; }`;
    await w.home.made(w.home.owner("POST", "/definitions", { type: "tool", name: "asks", source }));
    const [wanted, calls] = [["asks", "web_fetch"], [{ name: "asks", arguments: {} }]];
    const more = { name: "web_fetch", arguments: { url: `${w.site.url}/of-the-web` } };
    provider.script(({ body }) =>
      body.messages.some(({ role }: any) => role === "tool") ? { text: "Done." } : { tool_calls: [...calls, more] },
    );
    const before = providerCalls().length;
    const { thread } = await complete(
      { traceparent },
      { tools: wanted.map((name) => ({ type: "function", function: { name } })) },
    );
    expect((await readEvents(thread)).filter(({ type }) => type === "ToolFinished")).toHaveLength(2);
    expect(await readTraceIds(thread)).toEqual([trace_id]);
    const rounds = providerCalls().slice(before);
    expect(rounds.map(({ headers }) => headers["traceparent"])).toEqual([traceparent, traceparent]);
    const visits = w.site.requests.filter(({ path }) => path.startsWith("/of-"));
    expect(visits.map(({ path }) => path).toSorted()).toEqual(["/of-a-tool", "/of-the-web"]);
    for (const { headers } of visits) expect(headers).not.toHaveProperty("traceparent");
  });

  test("contains a run, its steps and their turns", async () => {
    const { trace_id, traceparent } = newTrace();
    const source = workflowSource(
      `await ctx.sleep("1s"); return ctx.runStep("ask", {});`,
      `ask: async (args, ctx) => {
         await ctx.fetch("${w.site.url}/of-a-step");
         return (await ctx.chat({ model: "openai/gpt-test", messages: [{ role: "user", content: "Of a run" }] })).content;
       }`,
    );
    const envelope = { models: ["openai/gpt-test"], ...w.egress };
    const hook = await w.home.hook(await w.home.register(source, envelope));
    const caller = w.home.clientAt(hook.secret);
    const { body } = await caller("POST", `/workflows/hooks/${hook.hook_token}`, {}, { traceparent });
    expect(await w.home.polled(hook, body.run_id)).toMatchObject({ status: "completed", result: "Of a run" });
    const run = streamName("run", body.run_id);
    const events = await readEvents(run);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["TimerFired", "StepCompleted", "RunCompleted"]),
    );
    expect(await readTraceIds(run)).toEqual([trace_id]);
    expect(lastProviderHeaders()["traceparent"]).toBe(traceparent);
    const { headers } = w.site.requests.find(({ path }) => path === "/of-a-step")!;
    expect(headers).not.toHaveProperty("traceparent");
  });

  test("contains a document's processing, even after a long wait for other documents", async () => {
    const reader = openReader(w.url, w.home.credentials.api_key);
    const slug = await reader.collect("Queue");
    const uploads = Array.from({ length: 24 }, async (_, n) => {
      const { trace_id, traceparent } = newTrace();
      const { body } = await reader.upload(slug, { content: `Words of ${n}.`, headers: { traceparent } });
      await reader.ended(body.id);
      return { trace_id, events: await readEvents(streamName("document", body.id)) };
    });
    for (const { trace_id, events } of await Promise.all(uploads)) {
      const types = ["DocumentUploaded", "ReadingStarted", "DocumentRead", "DocumentIndexed"];
      expect(events.map(({ type, meta }) => [type, parseTraceId(meta.traceparent)])).toEqual(
        types.map((type) => [type, trace_id]),
      );
    }
  });
});

describe("a new trace starts", () => {
  const startTrace = async (headers: Record<string, string>) => {
    const { thread } = await complete(headers);
    const [trace_id, ...others] = await readTraceIds(thread);
    expect([trace_id, others]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), []]);
    const { traceparent } = lastProviderHeaders();
    expect(traceparent).toMatch(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-00$`));
    return trace_id!;
  };

  test("for each request without a traceparent", async () => {
    expect(await startTrace({})).not.toBe(await startTrace({}));
  });

  test.each([
    ["of zeros", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`],
    ["in upper case", `00-${"AB".repeat(16)}-00f067aa0ba902b7-01`],
    ["that is too long", `00-${"ab".repeat(16)}-00f067aa0ba902b7-01-more`],
    ["of eight kilobytes", "00-".repeat(2_700)],
    ["of other characters", "ключ-ключ".replace(/./g, (letter) => `%${letter.charCodeAt(0)}`)],
  ])("for a request with an invalid traceparent %s", async (_, traceparent) => {
    expect(traceparent).not.toContain(await startTrace({ traceparent, tracestate: "vendor=opaque" }));
  });
});

test.each([
  ["of eight kilobytes", "vendor=opaque,".repeat(580)],
  ["of a hundred members", Array.from({ length: 100 }, (_, n) => `k${n}=v`).join(",")],
  ["without entries", "===,,,===;\t"],
])("an invalid tracestate %s does not affect the trace", async (_, tracestate) => {
  const { trace_id, traceparent } = newTrace();
  const { thread } = await complete({ traceparent, tracestate });
  expect(await readTraceIds(thread)).toEqual([trace_id]);
});

test("concurrent requests keep their own traces", async () => {
  const answers = Array.from({ length: 20 }, async (_, n) => {
    const { trace_id, traceparent } = newTrace();
    const { thread } = await complete({ traceparent }, { stream: n % 2 === 0 });
    return [await readTraceIds(thread), [trace_id]];
  });
  for (const [found, wanted] of await Promise.all(answers)) expect(found).toEqual(wanted);
});
