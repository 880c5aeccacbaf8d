import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { describeDocument } from "./describeDocument.ts";

const events = (...fields: [string, object | undefined][]) =>
  fields.map(([type, personal]) => ({ type, personal })) as unknown as RecordedEvent[];
const uploaded: [string, object] = ["DocumentUploaded", { name: "a.pdf", tags: ["x"], sha256: "" }];

describe("the description of a document", () => {
  test("has the newest name and the newest tags", () => {
    expect(describeDocument(events(uploaded))).toEqual({ name: "a.pdf", tags: ["x"] });
    expect(describeDocument(events(uploaded, ["DocumentRead", undefined], ["DocumentChanged", { tags: [] }]))).toEqual({
      name: "a.pdf",
      tags: [],
    });
    expect(describeDocument(events(uploaded, ["DocumentReplaced", { name: "b.pdf", tags: ["y"] }]))).toEqual({
      name: "b.pdf",
      tags: ["y"],
    });
  });

  test("is undefined if the document was erased", () => {
    expect(describeDocument(events(["DocumentUploaded", undefined], ["DocumentDeleted", undefined]))).toBeUndefined();
    expect(describeDocument([])).toBeUndefined();
  });
});
