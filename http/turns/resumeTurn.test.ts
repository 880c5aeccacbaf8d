import Fastify, { type FastifyReply } from "fastify";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import type { Http } from "../base/deps.ts";
import type { ApiError } from "../base/errors.ts";
import { trackRequestTime } from "../base/requestTime.ts";
import { resumeTurn } from "./resumeTurn.ts";

const app = Fastify();
afterEach(() => {
  vi.useRealTimers();
  return app.close();
});

test("a repeated request waits for the read model of its turn only until its 503 is due", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const waited: unknown[] = [];
  const http = {
    log: { newestPosition: async () => 9 },
    waitForProjections: async (...args: unknown[]) => {
      waited.push(args);
      return false;
    },
    abandonedTurns: { add: async () => {} },
    logger: pino({ level: "silent" }),
  } as unknown as Http;
  trackRequestTime(app);
  app.addHook("onRequest", async (_request, reply: FastifyReply) => {
    Object.defineProperty(reply, "elapsedTime", { value: 3_000 });
  });
  const previous = { organization_id: "o", command_id: "c", thread_id: "t", position: 7, hasKey: true };
  const resume = () => resumeTurn(http, { include_usage: false }, previous);
  app.post("/", () => resume().catch(({ status }: ApiError) => ({ status })));
  expect((await app.inject({ method: "POST", url: "/" })).json()).toEqual({ status: 503 });
  expect(waited).toEqual([[["turns"], 9, 1_500, undefined]]);
});
