import { connect, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fastify from "fastify";
import { expect, test } from "vitest";
import type { AuditedEvent } from "#events/auditLog.ts";
import { createTail } from "./eventTail.ts";

const COUNT = 200;
const TEXT = "x".repeat(500_000);
const EVENTS = Array.from({ length: COUNT }, (_, n) => ({ position: n + 1, stream: "s", type: "t" }) as AuditedEvent);

/** A log that ignores how many bytes a slice may have. */
function openLog() {
  let mostBytes = 0;
  const needs = {
    log: { newestPosition: async () => COUNT },
    keyring: { sealNumber: (_: string, position: number) => String(position) },
    streams: { count: () => undefined },
    onCommitted: () => () => undefined,
    async readAuditSlice(_: string, { after, bytes = Number.POSITIVE_INFINITY }: { after: number; bytes?: number }) {
      mostBytes = Math.max(mostBytes, bytes);
      return { events: EVENTS.slice(after), more: false };
    },
  };
  return { needs, mostBytes: () => mostBytes };
}

async function serve(needs: object, onFrame: () => void) {
  const app = fastify({ forceCloseConnections: true });
  app.decorateRequest("caller", null as never);
  const toFrame = ({ position }: AuditedEvent) => {
    onFrame();
    return `id: ${position}\ndata: ${TEXT}\n\n`;
  };
  const tail = createTail(needs as never, async () => undefined, toFrame);
  app.get("/", async (request, reply) => {
    request.caller = { organization_id: "o1" } as never;
    await tail(request, reply, { after: 0 });
    return reply;
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return { app, port: (app.server.address() as AddressInfo).port };
}

test("a client that reads gets every event once, in order, from reads of little", async () => {
  const log = openLog();
  const { app, port } = await serve(log.needs, () => undefined);
  const response = await fetch(`http://127.0.0.1:${port}/`);
  const ids: string[] = [];
  let rest = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop()!;
    ids.push(...lines.filter((line) => line.startsWith("id: ")));
    if (ids.length > COUNT) break;
  }
  expect(ids).toEqual(Array.from({ length: COUNT + 1 }, (_, n) => `id: ${n}`));
  expect(log.mostBytes()).toBeLessThanOrEqual(1024 * 1024);
  await app.close();
});

test("for a client that does not read, no more frames are made than fit into the buffers of its connection", async () => {
  let frames = 0;
  const { app, port } = await serve(openLog().needs, () => (frames += 1));
  const socket = connect(port, "127.0.0.1").pause();
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await expect.poll(() => frames, { timeout: 10_000 }).toBeGreaterThan(0);
  for (let before = -1; before !== frames; await sleep(300)) before = frames;
  expect(frames).toBeLessThan(COUNT);
  socket.destroy();
  await app.close();
});
