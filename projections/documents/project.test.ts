import { describe, expect, test } from "vitest";
import {
  DocumentChanged,
  DocumentDeleted,
  DocumentIndexed,
  DocumentRead,
  DocumentReplaced,
  DocumentReprocessed,
  DocumentUploaded,
  IndexingFailed,
  ReadingFailed,
  ReadingStarted,
} from "#events/document.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { documents } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const collection = "0198c0de-0000-7000-8000-00000000000b";
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(documents, `document-${id}`, ...events);
const patch = (row: object) => ({
  table: "documents",
  kind: "patch",
  key: { id },
  row: { ...row, updated_at: RECORDED_AT },
});
const original = {
  document_id: id,
  mime_type: "text/plain",
  size_bytes: 3,
  original: "file" as const,
  blob: "b1",
  content_claim: "c",
  generation: 1,
  worker: null,
};
const uploaded = DocumentUploaded.of(
  { ...original, collection_id: collection, source: "api", external_claim: null },
  { name: "\ud800.txt", tags: ["a"], sha256: "00", external_id: null },
);
const work = { document_id: id, generation: 2, attempt: 1 };

describe("the documents projection", () => {
  test("inserts an uploaded document as pending, and nothing if it was erased", () => {
    expect(from(uploaded, erased(uploaded))).toEqual([
      {
        table: "documents",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          collection_id: collection,
          name: '"\\ud800.txt"',
          mime_type: '"text/plain"',
          size_bytes: 3,
          status: "pending",
          tags: '["a"]',
          source: "api",
          original: "file",
          blob: "b1",
          external_id: null,
          created_at: RECORDED_AT,
          updated_at: RECORDED_AT,
        },
      },
    ]);
  });

  test("stores a reading under its generation, and makes it live when it is indexed", () => {
    const text = { text: "t2", passages: "p2", page_count: 4, chunk_count: 9, characters: 100 };
    const indexed_at = "2026-01-02T03:04:06.000Z";
    expect(
      from(
        ReadingStarted.of({ ...work, worker: "w" }),
        DocumentRead.of({ ...work, ...text, warnings: [{ code: "page_without_text", pages: [3] }] }),
        DocumentIndexed.of({ document_id: id, generation: 2, indexed_at, units: 4, unused: ["t1", "p1"] }),
      ),
    ).toEqual([
      patch({ status: "processing" }),
      {
        table: "readings",
        kind: "put",
        key: { document_id: id, generation: 2 },
        row: {
          text_blob: "t2",
          passages_blob: "p2",
          page_count: 4,
          chunk_count: 9,
          warnings: '[{"code":"page_without_text","pages":[3]}]',
        },
      },
      patch({}),
      patch({ status: "ready", error: null, live_generation: 2, indexed_at: new Date(indexed_at) }),
      { table: "readings", kind: "removeWhere", where: { document_id: id, passages_blob: "t1" } },
      { table: "readings", kind: "removeWhere", where: { document_id: id, passages_blob: "p1" } },
    ]);
  });

  test("stores the reason of a failure, and keeps the live generation", () => {
    const unread = ReadingFailed.of(work, { error: "Encrypted." });
    expect(from(unread)).toEqual([patch({ status: "failed", error: '"Encrypted."' })]);
    expect(from(erased(unread))).toEqual([patch({ status: "failed", error: null })]);
    expect(from(IndexingFailed.of({ document_id: id, generation: 2 }, { error: "No." }))).toEqual([
      patch({ status: "failed", error: '"No."' }),
    ]);
  });

  test("patches a changed, a reprocessed and a replaced document", () => {
    const reprocessed = DocumentReprocessed.of({ document_id: id, generation: 2, worker: null, reextract: false });
    const replaced = DocumentReplaced.of(
      { ...original, mime_type: "text/markdown", blob: "b2", size_bytes: 5, released_claim: "c0", original: "text" },
      { name: "n", tags: [], sha256: "11" },
    );
    expect(
      from(
        DocumentChanged.of({ document_id: id }, { tags: ["x"], metadata: { a: 1 }, readers: null }),
        reprocessed,
        replaced,
      ),
    ).toEqual([
      patch({ tags: '["x"]', metadata: '{"a":1}', readers: null }),
      patch({ status: "processing", error: null }),
      patch({
        mime_type: '"text/markdown"',
        size_bytes: 5,
        original: "text",
        blob: "b2",
        status: "pending",
        name: '"n"',
        tags: "[]",
        error: null,
      }),
    ]);
  });

  test("removes a deleted document with its readings", () => {
    const deleted = DocumentDeleted.of({
      document_id: id,
      collection_id: collection,
      content_claim: "c",
      external_claim: null,
    });
    expect(from(deleted)).toEqual([
      { table: "documents", kind: "remove", key: { id } },
      { table: "readings", kind: "removeWhere", where: { document_id: id } },
    ]);
  });
});
