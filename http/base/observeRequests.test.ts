import { once } from "node:events";
import { request as open } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import fastify, { type FastifyRequest } from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import type { App } from "./app.ts";
import { readBodies } from "./parseBodies.ts";
import { createBodyBudget, type BodyBudget } from "./bodyBudget.ts";
import { toApiError } from "./toApiError.ts";
import { observeRequests } from "./observeRequests.ts";

const MIB = 1024 * 1024;
const longReadPlaces = { acquire: async () => {}, release: () => {}, countWaiting: () => 0 };
const metrics = { request: () => {} } as unknown as Parameters<typeof observeRequests>[1]["metrics"];

let app: App | undefined;
afterEach(() => app?.close());

/** A server whose route answers with the held bytes, for bodies of up to 8 MiB. */
async function serve(budget: BodyBudget): Promise<number> {
  app = fastify({ bodyLimit: 8 * MIB }) as App;
  observeRequests(app, { metrics, longReadPlaces }, budget);
  readBodies(app);
  app.setErrorHandler((error, _request, reply) => reply.code(toApiError(error).status).send());
  app.post("/", () => String(budget.heldBytes()));
  app.get("/", () => "still here");
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Sends `mib` MiB of JSON in chunks. */
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

const other = { caller: { organization_id: "other" } } as unknown as FastifyRequest;

describe("a JSON body", () => {
  test("reserves budget as it arrives until its answer is sent", async () => {
    const budget = createBodyBudget();
    const port = await serve(budget);
    expect(await send(port, 5)).toEqual({ status: 200, body: String(5 * MIB) });
    await expect.poll(budget.heldBytes).toBe(0);
  });

  test("gets a 503 if it exceeds the memory that other bodies leave", async () => {
    const budget = createBodyBudget({ total: 7 * MIB });
    const port = await serve(budget);
    budget.countArrived(other, MIB);
    expect((await send(port, 3)).status).toBe(200);
    await expect.poll(budget.heldBytes).toBe(MIB);
    expect((await send(port, 5)).status).toBe(503);
    await expect.poll(budget.heldBytes).toBe(MIB);
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
  });

  test("is refused above the limit of its route", async () => {
    const budget = createBodyBudget();
    const port = await serve(budget);
    expect((await send(port, 9)).status).toBe(413);
    await expect.poll(budget.heldBytes).toBe(0);
  });

  test("that is announced but does not arrive reserves nothing and gets a 408", { timeout: 15_000 }, async () => {
    const budget = createBodyBudget();
    const port = await serve(budget);
    const headers = { "content-type": "application/json", "content-length": String(8 * MIB) };
    const sending = open({ port, host: "127.0.0.1", method: "POST", headers });
    sending.on("error", () => {});
    const answered = once(sending, "response");
    sending.write(" ");
    await expect.poll(budget.heldBytes).toBe(1);
    const [response] = await answered;
    expect(response.statusCode).toBe(408);
    await expect.poll(budget.heldBytes).toBe(0);
  });
});

describe("a large answer", () => {
  /** Requests answers of 4 MiB for the organization `o`, which already holds `heldBytes`. */
  async function ask(method: string, heldBytes: number) {
    const budget = createBodyBudget({ perOwner: 5 * MIB });
    app = fastify() as App;
    observeRequests(app, { metrics, longReadPlaces }, budget);
    readBodies(app);
    app.setErrorHandler((error, _request, reply) => reply.code(toApiError(error).status).send());
    app.addHook("onRequest", async (request) => void Object.assign(request, { caller: { organization_id: "o" } }));
    app.route({ method: ["GET", "POST"], url: "/", handler: () => "x".repeat(4 * MIB) });
    budget.countArrived({ caller: { organization_id: "o" } } as unknown as FastifyRequest, heldBytes);
    await app.listen({ host: "127.0.0.1", port: 0 });
    const answer = await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, { method });
    await answer.text();
    await expect.poll(budget.heldBytes).toBe(heldBytes);
    await app.close();
    return answer.status;
  }

  test("counts for its organization until the client has received it; a read above the share gets a 429", async () => {
    expect(await ask("GET", 1)).toBe(200);
    expect(await ask("GET", 2 * MIB)).toBe(429);
  });

  test.each(["GET", "POST"] as const)(
    "to a %s is encoded in steps, and sent in pieces of which none is long",
    async (method) => {
      const value = { texts: Array.from({ length: 200 }, (_, n) => `${n} ü🎈`.repeat(1_000)), n: 1 };
      const budget = createBodyBudget();
      app = fastify() as App;
      observeRequests(app, { metrics, longReadPlaces }, budget);
      app.addHook("onRequest", async (request) => void Object.assign(request, { caller: { organization_id: "o" } }));
      const lengths: number[] = [];
      app.addHook("onSend", async (_request, _reply, payload) => {
        expect(budget.heldBytes()).toBe(method === "GET" ? Buffer.byteLength(JSON.stringify(value)) : 0);
        (payload as Readable).on("data", (piece: Buffer) => lengths.push(piece.length));
        return payload;
      });
      app.route({ method, url: "/", handler: () => value });
      const answer = await app.inject({ method, url: "/" });
      expect(answer.json()).toEqual(value);
      expect(answer.headers).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "content-length": String(answer.rawPayload.length),
      });
      expect(lengths.length).toBeGreaterThan(5);
      expect(Math.max(...lengths)).toBeLessThan(512 * 1024);
    },
  );

  test("of a write is sent even above the share, because the write has happened", async () => {
    expect(await ask("POST", 2 * MIB)).toBe(200);
  });
});
