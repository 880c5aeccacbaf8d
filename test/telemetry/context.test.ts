import { jetstream } from "@nats-io/jetstream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { streamOf } from "#events/ids.ts";
import { traceIdOf } from "#events/trace.ts";
import { lookAt } from "../bus/streams.ts";
import { startProvider, type Provider } from "../doubles/provider.ts";
import { clientOf } from "../http/service.ts";
import { readerOf } from "../knowledge/library.ts";
import { openWorkshop, workflowOf, type Workshop } from "../workflows/workshop.ts";

/* A trace from a request to everything that it leads to, where nobody records spans. */

let provider: Provider;
let w: Workshop;
let chat: ReturnType<typeof clientOf>;
beforeAll(async () => {
  provider = await startProvider();
  w = await openWorkshop({ OPENAI_API_KEY: "sk-deployment", OPENAI_BASE_URL: provider.url });
  chat = clientOf({ chat: `${w.platform.url}/api/openai/v1` }, w.home.credentials.api_key);
});
afterAll(() => provider.close());
beforeEach(() => provider.script(() => undefined));

let traces = 0;
/** A trace of a client's that nobody else has. */
const named = () => {
  const trace_id = (++traces).toString(16).padStart(32, "c");
  return { trace_id, traceparent: `00-${trace_id}-00f067aa0ba902b7-01` };
};
const complete = async (headers: Record<string, string>, more: object = {}) => {
  const messages = [{ role: "user", content: "Hello" }];
  const answer = await chat("POST", "/chat/completions", { model: "openai/gpt-test", messages, ...more }, headers);
  expect(answer.status, answer.text).toBe(200);
  return { ...answer, thread: streamOf("thread", answer.headers.get("x-thread-id")!) };
};
const eventsOf = (stream: string) => w.platform.opened.log.read(stream);
/** The ids of the traces that a stream's events belong to, each once. */
const tracesOf = async (stream: string) => [
  ...new Set((await eventsOf(stream)).map(({ meta }) => traceIdOf(meta.traceparent))),
];
const asked = () => provider.requests.filter(({ method }) => method === "POST");
const told = () => asked().at(-1)!.headers;

describe("a request that names a trace", () => {
  test.each([{ stream: false }, { stream: true }])(
    "leads to events and a provider in that trace (streamed: $stream)",
    async (how) => {
      const { trace_id, traceparent } = named();
      const { thread, headers } = await complete({ traceparent, tracestate: "vendor=opaque" }, how);
      await expect.poll(async () => (await eventsOf(thread)).map(({ type }) => type)).toContain("TurnCompleted");
      expect(await tracesOf(thread)).toEqual([trace_id]);
      expect(told()["traceparent"]).toBe(traceparent);
      expect(told()["tracestate"]).toBeUndefined();
      // neither is a header of answers
      expect([headers.get("traceparent"), headers.get("traceresponse")]).toEqual([null, null]);
    },
  );

  test("is found by it in the audit log, the trace of its turn and the feed", async () => {
    const { trace_id, traceparent } = named();
    const { body, thread } = await complete({ traceparent });
    const audit = await w.home.api("GET", `/events?stream=${thread}`);
    expect(audit.body.data.map((event: any) => event.trace_id)).toEqual([trace_id, trace_id]);
    const turn = await w.home.api("GET", `/turns/${body.id}/trace`);
    expect(turn.body).toMatchObject({ trace_id, request_id: expect.any(String), principal: expect.any(String) });
    expect(turn.body).not.toHaveProperty("traceparent");

    const where = { url: w.platform.opened.addresses.nats_url, prefix: w.platform.settings.BUS_PREFIX };
    const looker = await lookAt(where);
    const consumer = await jetstream(looker.nc).consumers.get(looker.names.streams.events, {
      filter_subjects: `${where.prefix}.evt.v1.${w.home.credentials.organization_id}.thread.TurnCompleted`,
    });
    let header: string | undefined;
    for await (const message of await consumer.consume()) {
      header = message.headers?.get("traceparent");
      if (message.json<{ stream: string }>().stream === thread) break;
    }
    await looker.close();
    expect(header).toBe((await eventsOf(thread)).at(-1)!.meta.traceparent);
    expect(header).toBe(traceparent);
  });

  test("has every round of its tools in it, and no server of the web is told", async () => {
    const { trace_id, traceparent } = named();
    const source = `export const meta = { description: "Asks", parameters: { type: "object", properties: {} }, secrets: [] };
      export async function execute(args, { fetch }) { return (await fetch("${w.shop.url}/of-a-tool")).status; }`;
    await w.home.made(w.home.api("POST", "/definitions", { type: "tool", name: "asks", source }));
    const [wanted, calls] = [["asks", "web_fetch"], [{ name: "asks", arguments: {} }]];
    const more = { name: "web_fetch", arguments: { url: `${w.shop.url}/of-the-web` } };
    provider.script(({ body }) =>
      body.messages.some(({ role }: any) => role === "tool") ? { text: "Done." } : { tool_calls: [...calls, more] },
    );
    const before = asked().length;
    const { thread } = await complete(
      { traceparent },
      { tools: wanted.map((name) => ({ type: "function", function: { name } })) },
    );
    expect((await eventsOf(thread)).filter(({ type }) => type === "ToolFinished")).toHaveLength(2);
    expect(await tracesOf(thread)).toEqual([trace_id]);
    const rounds = asked().slice(before);
    expect(rounds.map(({ headers }) => headers["traceparent"])).toEqual([traceparent, traceparent]);
    const visits = w.shop.heard.filter(({ path }) => path.startsWith("/of-"));
    expect(visits.map(({ path }) => path).toSorted()).toEqual(["/of-a-tool", "/of-the-web"]);
    for (const { headers } of visits) expect(headers).not.toHaveProperty("traceparent");
  });

  test("has a run in it, with its steps and the turns that these take", async () => {
    const { trace_id, traceparent } = named();
    const source = workflowOf(
      `await ctx.sleep("1s"); return ctx.runStep("ask", {});`,
      `ask: async (args, ctx) => {
         await ctx.fetch("${w.shop.url}/of-a-step");
         return (await ctx.chat({ model: "openai/gpt-test", messages: [{ role: "user", content: "Of a run" }] })).content;
       }`,
    );
    const envelope = { models: ["openai/gpt-test"], ...w.egress };
    const hook = await w.home.hook(await w.home.register(source, envelope));
    const caller = w.home.clientAt(hook.secret);
    const { body } = await caller("POST", `/workflows/hooks/${hook.hook_token}`, {}, { traceparent });
    expect(await w.home.polled(hook, body.run_id)).toMatchObject({ status: "completed", result: "Of a run" });
    const run = streamOf("run", body.run_id);
    const events = await eventsOf(run);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["TimerFired", "StepCompleted", "RunCompleted"]),
    );
    expect(await tracesOf(run)).toEqual([trace_id]);
    expect(told()["traceparent"]).toBe(traceparent);
    const { headers } = w.shop.heard.find(({ path }) => path === "/of-a-step")!;
    expect(headers).not.toHaveProperty("traceparent");
  });

  test("has its document in it, however long that waits for others", async () => {
    const reader = readerOf(w.platform.url, w.home.credentials.api_key);
    const slug = await reader.collect("Queue");
    const uploads = Array.from({ length: 24 }, async (_, n) => {
      const { trace_id, traceparent } = named();
      const { body } = await reader.upload(slug, { content: `Words of ${n}.`, headers: { traceparent } });
      await reader.ended(body.id);
      return { trace_id, events: await eventsOf(streamOf("document", body.id)) };
    });
    for (const { trace_id, events } of await Promise.all(uploads)) {
      const types = ["DocumentUploaded", "ReadingStarted", "DocumentRead", "DocumentIndexed"];
      expect(events.map(({ type, meta }) => [type, traceIdOf(meta.traceparent)])).toEqual(
        types.map((type) => [type, trace_id]),
      );
    }
  });
});

describe("a new trace begins", () => {
  const begun = async (headers: Record<string, string>) => {
    const { thread } = await complete(headers);
    const [trace_id, ...others] = await tracesOf(thread);
    expect([trace_id, others]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), []]);
    const { traceparent } = told();
    expect(traceparent).toMatch(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-00$`));
    return trace_id!;
  };

  test("with each request that names none", async () => {
    expect(await begun({})).not.toBe(await begun({}));
  });

  test.each([
    ["of zeros", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`],
    ["in upper case", `00-${"AB".repeat(16)}-00f067aa0ba902b7-01`],
    ["that is too long", `00-${"ab".repeat(16)}-00f067aa0ba902b7-01-more`],
    ["of eight kilobytes", "00-".repeat(2_700)],
    ["of another language", "ключ-ключ".replace(/./g, (letter) => `%${letter.charCodeAt(0)}`)],
  ])("where it is one %s", async (_, traceparent) => {
    expect(traceparent).not.toContain(await begun({ traceparent, tracestate: "vendor=opaque" }));
  });
});

test.each([
  ["of eight kilobytes", "vendor=opaque,".repeat(580)],
  ["of a hundred members", Array.from({ length: 100 }, (_, n) => `k${n}=v`).join(",")],
  ["that is none", "===,,,===;\t"],
])("a tracestate %s takes nothing from the trace", async (_, tracestate) => {
  const { trace_id, traceparent } = named();
  const { thread } = await complete({ traceparent, tracestate });
  expect(await tracesOf(thread)).toEqual([trace_id]);
});

test("two requests at once do not get into each other's traces", async () => {
  const answers = Array.from({ length: 20 }, async (_, n) => {
    const { trace_id, traceparent } = named();
    const { thread } = await complete({ traceparent }, { stream: n % 2 === 0 });
    return [await tracesOf(thread), [trace_id]];
  });
  for (const [found, wanted] of await Promise.all(answers)) expect(found).toEqual(wanted);
});
