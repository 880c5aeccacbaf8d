import { expect, test, vi } from "vitest";
import { openThingBlobs } from "./thingBlobs.ts";

const target = { stream: "document-d1", organization_id: "o1" };

test("the key of a thing's blobs is looked up once, and not at all if it is given", async () => {
  const findKey = vi.fn(async () => "found");
  const get = vi.fn(async () => Buffer.from("bytes"));
  const deps = { vault: { findKey, get, put: async () => "" } };
  const given = (await openThingBlobs(deps, { ...target, wrapped_key: "given" }))!;
  await given.get("b");
  expect(findKey).not.toHaveBeenCalled();
  const found = (await openThingBlobs(deps, target))!;
  await Promise.all([found.get("b"), found.get("c")]);
  expect(findKey).toHaveBeenCalledOnce();
  expect(get.mock.calls.map(([owner]: unknown[]) => (owner as { wrapped_key: string }).wrapped_key)).toEqual([
    "given",
    "found",
    "found",
  ]);
});

test("an erased thing has no blobs", async () => {
  const vault = { findKey: async () => undefined, get: async () => undefined, put: async () => "" };
  expect(await openThingBlobs({ vault }, target)).toBeUndefined();
});
