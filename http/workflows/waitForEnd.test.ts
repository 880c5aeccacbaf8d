import { EventEmitter } from "node:events";
import type { FastifyReply } from "fastify";
import { expect, test } from "vitest";
import { createStreamLimits } from "../base/streamLimits.ts";
import { createWaitForEnd } from "./waitForEnd.ts";

/** A reply to a key of one organization. */
const newReply = () =>
  ({
    raw: Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false }),
    request: { caller: { organization_id: "o1", principal: "key:a" } },
  }) as unknown as FastifyReply;

test("an organization may wait in a limited number of reads, and reads at once as often as it wants", async () => {
  const streams = createStreamLimits({ waits: 1 });
  // the run never ends
  const db = { query: async () => [{ id: "r" }] } as never;
  const waitForEnd = createWaitForEnd({ db, onProjected: () => () => {}, streams });
  const first = newReply();
  const waiting = waitForEnd("r", "60", first);
  await expect(waitForEnd("r", "60", newReply())).rejects.toMatchObject({ errorCode: "too_many_streams" });
  expect(await waitForEnd("r", "0", newReply())).toBe(false);
  first.raw.emit("close");
  expect(await waiting).toBe(false);
  expect(await waitForEnd("r", "0.01", newReply())).toBe(false);
});
