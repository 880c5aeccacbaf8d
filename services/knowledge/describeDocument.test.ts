import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { createDescriptionReader, describeDocument } from "./describeDocument.ts";

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

test("a document that changes often is read on from the version that was seen last", async () => {
  const renamed = Array.from({ length: 20 }, (_, n): [string, object] => ["DocumentChanged", { name: `${n}` }]);
  const all = events(uploaded, ...renamed);
  all.forEach((event, n) => Object.assign(event, { version: n + 1 }));
  const read: number[] = [];
  async function* pages(_: string, from = 1) {
    for (let n = from - 1; n < all.length; n += 10) {
      const page = all.slice(n, n + 10);
      read.push(page.length);
      yield { events: page, bytes: 0 };
    }
  }
  const reader = createDescriptionReader({ pages }, 1);
  expect(await reader.read("a")).toMatchObject({ name: "19", tags: ["x"], created_at: AT });
  expect(read).toEqual([10, 10, 1]);
  all.push(...events(["DocumentChanged", { tags: ["y"] }]).map((event) => ({ ...event, version: 22 })));
  expect(await reader.read("a")).toMatchObject({ name: "19", tags: ["y"] });
  expect(read.splice(0)).toEqual([10, 10, 1, 1]);
  await reader.read("b");
  await reader.read("a");
  expect(read.splice(0)).toEqual([10, 10, 2, 10, 10, 2]);
  reader.forget("a");
  await reader.read("a");
  expect(read).toEqual([10, 10, 2]);
});
