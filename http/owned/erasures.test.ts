import { expect, test } from "vitest";
import { erasureRoutes } from "./erasures.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

test("POST /erasures waits for a place among the long reads of its organization before it reads anything", async () => {
  const handlers = new Map<string, Handler>();
  const post = (at: string, _options: object, handler: Handler) => void handlers.set(at, handler);
  const app = { post, get: () => {} };
  erasureRoutes(app as never, {} as never);
  const refusal = new Error("too many wait");
  const request = { body: { owner: "user:zoe" }, acquireLongRead: () => Promise.reject(refusal) };
  const reply = { code: () => reply, send: (answer: unknown) => answer };
  await expect(handlers.get("/erasures")!(request, reply)).rejects.toBe(refusal);
});
