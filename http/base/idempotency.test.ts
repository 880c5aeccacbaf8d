import { describe, expect, test } from "vitest";
import type { CommandRequest } from "./send.ts";
import {
  createOnce,
  findCreated,
  identifyParts,
  nextCommand,
  findPreviousOutcome,
  readIdempotencyKey,
  rotateOnce,
  type IdempotentRequest,
} from "./idempotency.ts";
import type { StoredOutcome } from "./ports.ts";

const parts = { organization_id: "o1", principal: "key:k1", path: "/x", key: "k", body: "a" };
const request = identifyParts(parts);

describe("the command id of a request", () => {
  test("is the same only for the same sender, user, path and key", () => {
    expect(identifyParts({ ...parts, body: "b" }).id).toBe(request.id);
    const others = [
      { organization_id: "o2" },
      { principal: "key:k2" },
      { user: "" },
      { user: "u" },
      { path: "/y" },
      { key: "l" },
    ];
    const ids = others.map((other) => identifyParts({ ...parts, ...other }).id);
    expect(new Set([...ids, request.id]).size).toBe(others.length + 1);
  });

  test("is random without a key", () => {
    const without = { ...parts, key: undefined };
    expect(identifyParts(without).id).not.toBe(identifyParts(without).id);
    expect(identifyParts(without).hasKey).toBe(false);
  });

  test("is a hash that hides the key", () => {
    expect(identifyParts({ ...parts, key: "secret" }).id).toMatch(/^[0-9a-f]{64}$/);
  });

  test("differs for each further command of the request, in the same way every time", () => {
    const next = nextCommand(request, "again");
    expect(next.id).toBe(nextCommand(request, "again").id);
    expect(new Set([request.id, next.id, nextCommand(next, "again").id, nextCommand(request, "other").id]).size).toBe(
      4,
    );
    expect(next.fingerprint).toBe(request.fingerprint);
  });
});

test("the fingerprint of a request covers its body, its user and all other named parts", () => {
  const others = [{}, { body: "b" }, { more: ["x"] }, { user: "u" }];
  expect(new Set(others.map((other) => identifyParts({ ...parts, ...other }).fingerprint)).size).toBe(4);
});

test.each(["", "two words", "ü", "x".repeat(256), "a\u0000"])("the idempotency key %j is refused", (key) => {
  expect(() => readIdempotencyKey({ "idempotency-key": key })).toThrow(
    expect.objectContaining({ errorCode: "invalid_idempotency_key" }),
  );
});

const event = { stream: "agent-1", version: 3, position: 7 };
const stored = (outcome: Partial<StoredOutcome> = {}): StoredOutcome => ({
  fingerprint: request.fingerprint,
  rejection: null,
  event,
  ...outcome,
});
const outcomes = (outcome?: StoredOutcome) => ({ outcomes: { find: async () => outcome } });

describe("the previous outcome of a request", () => {
  test("is undefined for a new request, and for one without a key", async () => {
    expect(await findPreviousOutcome(outcomes(), request)).toBeUndefined();
    expect(await findPreviousOutcome(outcomes(stored()), { ...request, hasKey: false })).toBeUndefined();
  });

  test("is the event or the rejection of the first delivery", async () => {
    const rejection = { code: "last_owner", message: "No." };
    expect(await findPreviousOutcome(outcomes(stored()), request)).toEqual({ event, rejection: undefined });
    expect(await findPreviousOutcome(outcomes(stored({ event: null, rejection })), request)).toEqual({
      event: null,
      rejection,
    });
  });

  test("is refused with 422 when the key was used for another request", async () => {
    await expect(findPreviousOutcome(outcomes(stored({ fingerprint: "other" })), request)).rejects.toMatchObject({
      status: 422,
      errorCode: "idempotency_key_reused",
    });
  });
});

test("the result of an earlier delivery of a request is found, and nothing is found for a new or refused request", async () => {
  expect(await findCreated(outcomes(stored()), request)).toBe("1");
  expect(await findCreated(outcomes(), request)).toBeUndefined();
  const refused = stored({ event: null, rejection: { code: "last_owner", message: "No." } });
  expect(await findCreated(outcomes(refused), request)).toBeUndefined();
});

describe("creating something once", () => {
  const definition = { type: "CreateAgent" } as never;
  const command = (stream: string): CommandRequest<object> & IdempotentRequest => ({
    ...request,
    stream,
    principal: "key:k1",
    request_id: "r1",
    data: {},
  });
  const http = (repeated: boolean, outcome?: StoredOutcome) => ({
    ...outcomes(outcome),
    send: async () => ({ repeated, position: 7, projected: true }),
  });

  test("names the new thing when the request is new", async () => {
    const receipt = await createOnce(http(false), definition, command("agent-2"));
    expect(receipt).toMatchObject({ created_id: "2", isNew: true });
  });

  test("names the first thing when the request is repeated", async () => {
    const receipt = await createOnce(http(true, stored()), definition, command("agent-2"));
    expect(receipt).toMatchObject({ created_id: "1", isNew: false });
  });

  test("counts a command that the bus delivered twice as new", async () => {
    const receipt = await createOnce(http(true, stored()), definition, command("agent-1"));
    expect(receipt).toMatchObject({ created_id: "1", isNew: true });
  });

  test("answers 503 when the first outcome cannot be read", async () => {
    await expect(createOnce(http(true), definition, command("agent-2"))).rejects.toMatchObject({ status: 503 });
  });
});

describe("a new secret", () => {
  const definition = { type: "RotateKey" } as never;
  const rotate = (repeated: boolean, recorded?: object) => {
    const read: unknown[] = [];
    const http = {
      ...outcomes(stored()),
      log: { publicData: async (...place: unknown[]) => (read.push(place), recorded) },
      send: async () => ({ repeated, position: 7, projected: false }),
    };
    const command = { ...request, stream: "key-1", principal: "key:k1", request_id: "r1", data: { key_hash: "own" } };
    const sent = rotateOnce(http as never, definition, command as never, "key_hash" as never);
    return sent.then((isOwn) => ({ isOwn, read }));
  };

  test("is the generated one for a new request", async () => {
    expect(await rotate(false)).toEqual({ isOwn: true, read: [] });
  });

  test("is the generated one if this request created the thing, even if its outcome was looked up, and counts as repeated", async () => {
    expect(await rotate(true, { key_hash: "own" })).toEqual({ isOwn: true, read: [["agent-1", 3]] });
  });

  test("is not the generated one if an earlier delivery gave the thing another secret", async () => {
    expect((await rotate(true, { key_hash: "of the first" })).isOwn).toBe(false);
    expect((await rotate(true, undefined)).isOwn).toBe(false);
  });
});
