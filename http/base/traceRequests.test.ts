import { once } from "node:events";
import { request as open } from "node:http";
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { currentTrace, setSpanRecorder, type Attributes } from "#events/spans.ts";
import { newTrace, type Trace } from "#events/trace.ts";
import type { App } from "./app.ts";
import { traceRequests } from "./traceRequests.ts";

interface SpanRecord {
  name: string;
  parent: Trace | undefined;
  trace: Trace;
  attributes: Attributes;
  failure: string | undefined;
}
const spans: SpanRecord[] = [];
let stop = () => {};
let app: App;
beforeEach(() => {
  spans.length = 0;
  app = fastify() as App;
  traceRequests(app);
  app.get("/things/:id", async () => currentTrace());
  app.post("/things", async () => currentTrace());
  app.get("/broken", (_request, reply) => reply.code(503).send({}));
  app.get("/slow", () => new Promise(() => {}));
  app.get("/healthz", async () => "well");
});
afterEach(async () => {
  stop();
  await app.close();
});

const record = () => {
  stop = setSpanRecorder((name, { attributes = {} }, parent) => {
    const span: SpanRecord = { name, parent, trace: newTrace(), attributes: { ...attributes }, failure: undefined };
    return {
      trace: span.trace,
      set: (more) => Object.assign(span.attributes, more),
      end: (failure) => void spans.push({ ...span, failure }),
    };
  });
};
const listen = async () => {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
};
const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const asked = { trace_id: "a".repeat(32), span_id: "b".repeat(16), sampled: true };

test("a handler runs in the trace that its client sent, with and without a body", async () => {
  const url = `http://127.0.0.1:${await listen()}/things`;
  const body = JSON.stringify({ words: "x".repeat(200_000) });
  const headers = { traceparent, "content-type": "application/json" };
  expect(await (await fetch(url, { method: "POST", headers, body })).json()).toEqual(asked);
  expect(await (await fetch(`${url}/1`, { headers: { traceparent } })).json()).toEqual(asked);
  const [one, other] = [await fetch(`${url}/1`), await fetch(`${url}/1`)];
  expect(((await one.json()) as Trace).trace_id).not.toBe(((await other.json()) as Trace).trace_id);
});

test("the span of a request names the route instead of the path, and has the client's span as its parent", async () => {
  record();
  const base = `http://127.0.0.1:${await listen()}`;
  const answer = await fetch(`${base}/things/canary?q=canary`, { headers: { traceparent } });
  const attributes = { "http.request.method": "GET", "http.route": "/things/:id", "http.response.status_code": 200 };
  await expect
    .poll(() => spans)
    .toMatchObject([{ name: "GET /things/:id", parent: asked, attributes, failure: undefined }]);
  expect(await answer.json()).toEqual(spans[0]!.trace);
  expect(JSON.stringify(spans)).not.toContain("canary");
});

test("the span of a 500 is marked as failed, and that of an unknown path has no route", async () => {
  record();
  const base = `http://127.0.0.1:${await listen()}`;
  for (const path of ["/broken", "/nowhere/canary"]) await (await fetch(base + path)).text();
  await expect.poll(() => spans).toHaveLength(2);
  expect(
    spans.map(({ name, attributes, failure }) => [name, attributes["http.response.status_code"], failure]),
  ).toEqual([
    ["GET /broken", 503, "503"],
    ["GET", 404, undefined],
  ]);
});

test("the span of a request records that its client disconnected", async () => {
  record();
  const leaving = open({ host: "127.0.0.1", port: await listen(), path: "/slow" }).on("error", () => {});
  leaving.end();
  await once(app.server, "request");
  leaving.destroy();
  await expect.poll(() => spans.map(({ name, failure }) => [name, failure])).toEqual([["GET /slow", "client_left"]]);
});

test("monitoring routes get no spans", async () => {
  record();
  const base = `http://127.0.0.1:${await listen()}`;
  expect(await (await fetch(`${base}/healthz`)).text()).toBe("well");
  await (await fetch(`${base}/things/1`)).text();
  await expect.poll(() => spans.map(({ name }) => name)).toEqual(["GET /things/:id"]);
});
