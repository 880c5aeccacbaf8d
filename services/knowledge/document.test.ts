import { expect, test } from "vitest";
import type { Recorded } from "#events/envelope.ts";
import { documentFrom } from "./document.ts";

const events = (...told: [string, object | undefined][]) =>
  told.map(([type, personal]) => ({ type, personal })) as unknown as Recorded[];
const uploaded: [string, object] = ["DocumentUploaded", { name: "a.pdf", tags: ["x"], sha256: "" }];

test("a document has the name and the tags that were told last", () => {
  expect(documentFrom(events(uploaded))).toEqual({ name: "a.pdf", tags: ["x"] });
  expect(documentFrom(events(uploaded, ["DocumentRead", undefined], ["DocumentChanged", { tags: [] }]))).toEqual({
    name: "a.pdf",
    tags: [],
  });
  expect(documentFrom(events(uploaded, ["DocumentReplaced", { name: "b.pdf", tags: ["y"] }]))).toEqual({
    name: "b.pdf",
    tags: ["y"],
  });
});

test("an erased document tells nothing", () => {
  expect(documentFrom(events(["DocumentUploaded", undefined], ["DocumentDeleted", undefined]))).toBeUndefined();
  expect(documentFrom([])).toBeUndefined();
});
