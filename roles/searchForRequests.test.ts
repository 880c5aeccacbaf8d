import Fastify, { type FastifyReply } from "fastify";
import { afterEach, expect, test } from "vitest";
import { trackRequestTime } from "#http/base/requestTime.ts";
import type { EngineScope, SearchEngine } from "#projections/passages/engine.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { searchForRequests } from "./searchForRequests.ts";

const app = Fastify();
afterEach(() => app.close());

test("a search of a request waits for its turn only until the 503 of the request is due", async () => {
  const silent: SearchEngine = {
    search: () => new Promise(() => {}),
    nearest: async () => [],
    fetch: async () => [],
  };
  const engine = searchForRequests(silent, createFairSemaphore({ total: 1, perTenant: 1 }));
  const search = () => engine.search("passages", { organization_id: "o" } as EngineScope, []);
  // holds the only place
  void search();
  trackRequestTime(app);
  app.addHook("onRequest", async (_request, reply: FastifyReply) => {
    Object.defineProperty(reply, "elapsedTime", { value: 3_900 });
  });
  app.post("/", () =>
    search().then(
      () => "found",
      ({ name }: Error) => name,
    ),
  );
  const began = performance.now();
  expect((await app.inject({ method: "POST", url: "/" })).body).toBe("SearchBusy");
  expect(performance.now() - began).toBeLessThan(5_000);
});
