import { expect, test } from "vitest";
import { copyMessage } from "./copyMessage.ts";

class Reference {
  num = 3;
  gen = 0;
}

test.each([
  ["of texts and numbers", { sourceName: "w", stream: 6, streamId: 1, desiredSize: Infinity, data: undefined }],
  ["with a list", { callback: 1, callbackId: 2, data: { rotate: 0, view: [0, 0, 612, 792], refStr: null } }],
  ["with an object of a class", { data: { ref: new Reference(), view: [0, 1] } }],
  [
    "with a map, a set and bytes",
    { data: { map: new Map([[1, [2]]]), ids: new Set([1]), bytes: new Uint8Array([1, 2]) } },
  ],
  ["with deep lists", { data: [[[[[1]]], { a: { b: { c: [2] } } }]] }],
])("a message %s is copied as it is cloned, and shares nothing with its copy", (_, message) => {
  const copy = copyMessage(message, []) as typeof message;
  expect(copy).toStrictEqual(structuredClone(message));
  expect(copy).not.toBe(message);
  if (typeof message.data === "object") expect(copy.data).not.toBe(message.data);
});

test("buffers are moved, and what cannot be cloned is refused", () => {
  const bytes = new Uint8Array([1, 2]);
  expect(copyMessage({ data: { bytes } }, [bytes.buffer])).toEqual({ data: { bytes: new Uint8Array([1, 2]) } });
  expect(bytes).toHaveLength(0);
  expect(() => copyMessage({ data: { call: () => {} } }, [])).toThrow("could not be cloned");
});
