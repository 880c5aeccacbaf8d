import { once } from "node:events";
import { request as open } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import fastify, { type FastifyRequest } from "fastify";
import { afterEach, expect, test } from "vitest";
import type { App } from "./app.ts";
import { readBodies } from "./bodies.ts";
import { createBudget, type Budget } from "./budget.ts";
import { toApiError } from "./failures.ts";
import { observe } from "./observe.ts";

const MIB = 1024 * 1024;
const metrics = { request: () => {} } as unknown as Parameters<typeof observe>[1]["metrics"];

let app: App | undefined;
afterEach(() => app?.close());

/** A service that answers with what is held while a body of up to 8 MiB is worked on. */
async function serve(budget: Budget): Promise<number> {
  app = fastify({ bodyLimit: 8 * MIB }) as App;
  observe(app, { metrics }, budget);
  readBodies(app);
  app.setErrorHandler((error, _request, reply) => reply.code(toApiError(error).status).send());
  app.post("/", () => String(budget.held()));
  app.get("/", () => "still here");
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Sends JSON of so many MiB in chunks. */
async function send(port: number, mib: number): Promise<{ status: number; body: string }> {
  const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
  const sending = open({ port, host: "127.0.0.1", method: "POST", headers });
  sending.on("error", () => {});
  const answered = once(sending, "response");
  sending.write(Buffer.alloc(MIB, " ").fill("0", 0, 1));
  for (let n = 1; n < mib; n++) sending.write(Buffer.alloc(MIB, " "));
  sending.end();
  const [response] = await answered;
  return { status: response.statusCode, body: await text(response) };
}

const other = { headers: { "content-length": String(MIB) } } as unknown as FastifyRequest;

test("JSON of untold length counts what has arrived of it until it is answered", async () => {
  const budget = createBudget();
  const port = await serve(budget);
  expect(await send(port, 5)).toEqual({ status: 200, body: String(5 * MIB) });
  await expect.poll(budget.held).toBe(0);
});

test("JSON of untold length is told to come back when it is too much beside others", async () => {
  const budget = createBudget(4 * MIB);
  const port = await serve(budget);
  budget.hold(other);
  expect((await send(port, 3)).status).toBe(200);
  await expect.poll(budget.held).toBe(MIB);
  expect((await send(port, 5)).status).toBe(503);
  await expect.poll(budget.held).toBe(MIB);
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
});

test("JSON of untold length that is larger than its route takes is refused", async () => {
  const budget = createBudget();
  const port = await serve(budget);
  expect((await send(port, 9)).status).toBe(413);
  await expect.poll(budget.held).toBe(0);
});
