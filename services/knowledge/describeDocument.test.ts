import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { describeDocument } from "./describeDocument.ts";

const AT = new Date("2026-01-02T03:04:05Z");
const DATA = { mime_type: "application/pdf" };
const fixed = { mime_type: "application/pdf", created_at: AT };
const none = { metadata: {}, readers: null };
const events = (...fields: [string, object | undefined][]) =>
  fields.map(([type, personal]) => ({ type, personal, data: DATA, recorded_at: AT })) as unknown as RecordedEvent[];
const uploaded: [string, object] = ["DocumentUploaded", { name: "a.pdf", tags: ["x"], sha256: "" }];

describe("the description of a document", () => {
  test("has the newest name and the newest tags", () => {
    expect(describeDocument(events(uploaded))).toEqual({ name: "a.pdf", tags: ["x"], ...none, ...fixed });
    expect(describeDocument(events(uploaded, ["DocumentRead", undefined], ["DocumentChanged", { tags: [] }]))).toEqual({
      name: "a.pdf",
      tags: [],
      ...none,
      ...fixed,
    });
    expect(describeDocument(events(uploaded, ["DocumentReplaced", { name: "b.pdf", tags: ["y"] }]))).toEqual({
      name: "b.pdf",
      tags: ["y"],
      ...none,
      ...fixed,
    });
  });

  test("has the newest metadata and the newest readers, which null takes away", () => {
    const details = { metadata: { a: 1 }, readers: [{ role: "admin" }] };
    const described = events(["DocumentUploaded", { ...uploaded[1], ...details }], ["DocumentChanged", { name: "b" }]);
    expect(describeDocument(described)).toMatchObject(details);
    expect(describeDocument([...described, ...events(["DocumentChanged", { readers: null }])])).toMatchObject({
      metadata: { a: 1 },
      readers: null,
    });
  });

  test("is undefined if the document was erased", () => {
    expect(describeDocument(events(["DocumentUploaded", undefined], ["DocumentDeleted", undefined]))).toBeUndefined();
    expect(describeDocument([])).toBeUndefined();
  });
});
