import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { followRun } from "./eventStream.ts";

const RUN = newId();
const about = { data: { run_id: RUN }, recorded_at: new Date(0) };
const EVENTS = [
  { ...about, version: 1, type: "RunCreated" },
  { ...about, version: 2, type: "RunCompleted", personal: { result: { blob: "b", bytes: 40_000 } } },
];

async function* pages() {
  for (const event of EVENTS) yield { events: [event] };
}

test("a stream ends before an event whose result cannot be read, so that its client resumes there", async () => {
  const get = () => Promise.reject(new Error("the disk is away"));
  const http = { streamPages: pages, vault: { get }, frames: {} };
  const row = { id: RUN, organization_id: newId(), wrapped_key: "" };
  const app = fastify();
  let failure: unknown;
  app.get("/", (_request, reply) => {
    const follower = { row, lastSeen: 0, reply };
    followRun(http as any, async () => {}, follower as any).catch((error: unknown) => (failure = error));
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const response = await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`);
  const text = await response.text();
  expect(text).toContain("id: 1\nevent: run.created\n");
  expect(text).not.toContain("run.completed");
  expect(String(failure)).toContain("the disk is away");
  await app.close();
});
