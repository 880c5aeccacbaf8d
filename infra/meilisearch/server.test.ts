import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startMute } from "#test/doubles/muteServer.ts";
import { openServer } from "./server.ts";

test("a search whose pooled connections were dropped without a word is answered on a new one", async () => {
  const known = new Set<Socket>();
  let dropped = new Set<Socket>();
  const http = createServer((request, response) => {
    known.add(request.socket);
    if (!dropped.has(request.socket)) response.end(JSON.stringify({ hits: [] }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  const server = openServer({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, key: "" });
  onTestFinished(async () => {
    http.closeAllConnections();
    http.close();
    await server.close();
  });
  const search = () => server.request({ method: "POST", path: "/x", body: {}, timeoutMs: 4_000, retryAfterMs: 200 });
  await Promise.all([search(), search(), search()]);
  dropped = new Set(known);
  expect(await search()).toEqual({ hits: [] });
  expect(await Promise.all([search(), search(), search()])).toHaveLength(3);
  dropped = new Set([...known].filter((socket) => !socket.destroyed));
  await expect(server.request({ method: "GET", path: "/x", timeoutMs: 300 })).rejects.toThrow("timeout");
});

test("closing does not wait for the answer of a silent server", async () => {
  const mute = await startMute();
  onTestFinished(mute.close);
  const server = openServer({ url: `http://${mute.host}`, key: "" });
  const refused = expect(server.request({ method: "GET", path: "/x", timeoutMs: 30_000 })).rejects.toThrow();
  await sleep(100);
  const began = performance.now();
  await server.close();
  await refused;
  expect(performance.now() - began).toBeLessThan(10_000);
});
