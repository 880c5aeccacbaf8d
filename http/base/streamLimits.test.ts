import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createStreamLimits } from "./streamLimits.ts";

function reply(organization_id: string, principal: string) {
  const raw = Object.assign(new EventEmitter(), { destroyed: false });
  return { raw, request: { caller: { organization_id, principal } } } as never;
}

test("streams above the limit of a credential or an organization are refused until others close", () => {
  const limits = createStreamLimits({ perCredential: 2, perOrganization: 3 });
  const refused = (words: string) =>
    expect.objectContaining({ errorCode: "too_many_streams", message: expect.stringContaining(words) });
  const first: { raw: EventEmitter } = reply("o1", "key:a");
  limits.count(first as never);
  limits.count(reply("o1", "key:a"));
  expect(() => limits.count(reply("o1", "key:a"))).toThrow(refused("A credential may have 2"));
  limits.count(reply("o1", "key:b"));
  expect(() => limits.count(reply("o1", "key:c"))).toThrow(refused("An organization may have 3"));
  limits.count(reply("o2", "key:d"));
  first.raw.emit("close");
  limits.count(reply("o1", "key:a"));
  expect(() => limits.count(reply("o1", "key:c"))).toThrow(refused("An organization"));
});

test("reads that wait for a run count for their organization, those of hooks as well", () => {
  const limits = createStreamLimits({ perCredential: 1, perOrganization: 1, waits: 2 });
  const raw = Object.assign(new EventEmitter(), { destroyed: false });
  const hook = { raw, request: { caller: null, trigger: { organization_id: "o1" } } } as never;
  limits.count(reply("o1", "key:a"));
  limits.countWaitingRead(reply("o1", "key:a"));
  limits.countWaitingRead(hook);
  expect(() => limits.countWaitingRead(reply("o1", "key:b"))).toThrow("An organization may have 2 waiting reads");
  limits.countWaitingRead(reply("o2", "key:c"));
  raw.emit("close");
  limits.countWaitingRead(reply("o1", "key:b"));
});

test("requests for turns count for their organization until they are answered, beside its streams", () => {
  const limits = createStreamLimits({ perCredential: 1, perOrganization: 1, turnRequests: 2 });
  const first: { raw: EventEmitter } = reply("o1", "key:a");
  limits.count(reply("o1", "key:a"));
  limits.countTurnRequest(first as never);
  limits.countTurnRequest(reply("o1", "key:b"));
  const refused = expect.objectContaining({ errorCode: "rate_limited", status: 429, retryAfterMs: 5_000 });
  expect(() => limits.countTurnRequest(reply("o1", "key:c"))).toThrow(refused);
  limits.countTurnRequest(reply("o2", "key:d"));
  first.raw.emit("close");
  limits.countTurnRequest(reply("o1", "key:c"));
  expect(() => limits.countTurnRequest(reply("o1", "key:a"))).toThrow("2 requests of the organization wait for turns");
});

test("the bytes that streams keep count for their organization until they close, and once for each request", () => {
  const limits = createStreamLimits({ keptBytes: { total: 1_000_000, perOwner: 300_000 } });
  const first: { raw: EventEmitter } = reply("o1", "key:a");
  limits.countKept(first as never, 200_000);
  limits.countKept(first as never, 200_000);
  const refused = expect.objectContaining({ errorCode: "too_many_bytes", status: 429 });
  expect(() => limits.countKept(reply("o1", "key:b"), 200_000)).toThrow(refused);
  limits.countKept(reply("o1", "key:b"), 60_000);
  limits.countKept(reply("o1", "key:b"), 100_000);
  limits.countKept(reply("o2", "key:c"), 200_000);
  first.raw.emit("close");
  limits.countKept(reply("o1", "key:b"), 200_000);
});

test("exports above the limit of an organization are refused until one ends", () => {
  const limits = createStreamLimits({ exports: 1 });
  const first: { raw: EventEmitter } = reply("o1", "key:a");
  limits.countExport(first as never);
  const refused = expect.objectContaining({ errorCode: "too_many_streams" });
  expect(() => limits.countExport(reply("o1", "key:b"))).toThrow(refused);
  limits.countExport(reply("o2", "key:c"));
  limits.count(reply("o1", "key:a"));
  first.raw.emit("close");
  limits.countExport(reply("o1", "key:b"));
});
