import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import fastify from "fastify";
import { expect, test } from "vitest";
import { openEventStream, type EventStream } from "./sse.ts";

async function serve(use: (stream: EventStream) => void, options?: { pingMs: number }) {
  const app = fastify();
  app.get("/", (_request, reply) => {
    reply.header("x-request-id", "r1");
    use(openEventStream(reply, "data: 1\n\n", options));
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return { app, port: (app.server.address() as AddressInfo).port };
}

test("an event stream sends its headers, including those of hooks, with the first frames", async () => {
  const { app, port } = await serve((stream) => {
    stream.write("data: 2\n\n");
    stream.end("data: [DONE]\n\n");
    stream.write("data: too late\n\n");
  });
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-request-id": "r1",
  });
  expect(await response.text()).toBe("data: 1\n\ndata: 2\n\ndata: [DONE]\n\n");
  await app.close();
});

test.each([
  ["node", ": ping\n\n"],
  ["go", ": ping\n"],
])("a silent event stream sends a client for %s the comments %j", async (lang, comment) => {
  const { app, port } = await serve((stream) => void setTimeout(() => stream.end("data: 2\n\n"), 100), { pingMs: 20 });
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { "x-stainless-lang": lang } });
  const text = await response.text();
  expect(text).toContain(`data: 1\n\n${comment}`);
  expect(text.replaceAll(comment, "")).toBe("data: 1\n\ndata: 2\n\n");
  await app.close();
});

test("the pieces of a long frame are sent in order, between the frames before and after it", async () => {
  const { app, port } = await serve((stream) => {
    stream.write("data: 2\n\n");
    stream.write([Buffer.from("data: "), Buffer.from("3\n\n")]);
    stream.write("data: 4\n\n");
    stream.end([Buffer.from("data: 5"), Buffer.from("\n\n")]);
  });
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect(await response.text()).toBe("data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\ndata: 5\n\n");
  await app.close();
});

test("an event stream disconnects a reader that has left 1 MiB unread", async () => {
  const opened = Promise.withResolvers<EventStream>();
  const { app, port } = await serve(opened.resolve);
  const reader = connect(port, "127.0.0.1");
  reader.pause().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  reader.on("error", () => {});
  const stream = await opened.promise;
  const frame = `data: ${"x".repeat(64 * 1024)}\n\n`;
  for (let sent = 0; sent < 500 && !stream.hasOverflowed(); sent++) {
    stream.write(frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(stream.hasOverflowed()).toBe(true);
  reader.resume();
  await once(reader, "close");
  await app.close();
});

const LONG = `data: ${"é".repeat(1024 * 1024)}\n\n`;
const PIECES = Array.from({ length: 17 }, (_, n) => Buffer.from(LONG).subarray(n * 128 * 1024, (n + 1) * 128 * 1024));

test.each([
  ["one text", LONG],
  ["17 pieces", PIECES],
])("a reader that still reads 2 MiB, sent as %s, is not disconnected when the next frame comes", async (_, frames) => {
  const { app, port } = await serve((stream) => {
    stream.write(frames);
    stream.write("data: 3\n\n");
    stream.end("data: [DONE]\n\n");
  });
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect(await response.text()).toBe(`data: 1\n\n${LONG}data: 3\n\ndata: [DONE]\n\n`);
  await app.close();
});

test("a writer waits for its client until the connection takes more, or until it gives up", async () => {
  const opened = Promise.withResolvers<EventStream>();
  const { app, port } = await serve(opened.resolve);
  const reader = connect(port, "127.0.0.1");
  reader.pause().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  reader.on("error", () => {});
  const stream = await opened.promise;
  // more than the buffers of the system hold
  stream.write(`data: ${"x".repeat(32 * 1024 * 1024)}\n\n`);
  const giveUp = new AbortController();
  let isOver = false;
  const waiting = stream.drainedBefore(giveUp.signal).then(() => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isOver).toBe(false);
  giveUp.abort();
  await waiting;
  const drained = stream.drainedBefore(new AbortController().signal);
  reader.resume();
  await drained;
  expect(stream.hasOverflowed()).toBe(false);
  reader.destroy();
  await app.close();
});
