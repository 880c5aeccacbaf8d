import { describe, expect, test } from "vitest";
import { SourceCreated, SourceDeleted, SourceEmptied, SourcePagesRead, SourceReadStarted } from "#events/source.ts";
import { erased, ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { sources } from "./project.ts";

const source_id = "0198c0de-0000-7000-8000-00000000000a";
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(sources, `source-${source_id}`, ...events);

describe("the sources projection", () => {
  test("inserts a source that is being read, and nothing if it was erased", () => {
    const settings = { kind: "url" as const, max_pages: 1, when_gone: "keep" as const, rule: null, next: null };
    const created = SourceCreated.of(
      { source_id, collection_id: ORGANIZATION, ...settings, worker: "w" },
      { url: "http://a.example/", include: [], exclude: [] },
    );
    expect(from(created)).toMatchObject([
      {
        kind: "put",
        key: { id: source_id },
        row: { url: '"http://a.example/"', read: 1, reading: true, listed: null },
      },
    ]);
    expect(from(erased(created))).toEqual([]);
  });

  test("inserts a new page, and changes only the fields that a later read reports", () => {
    const document_id = ORGANIZATION;
    const first = SourcePagesRead.of(
      { source_id, read: 1, pages: [{ page: "p", first: true, result: "new", document_id, content_claim: "c" }] },
      { pages: [{ url: "http://a.example/", etag: "e", last_modified: null }] },
    );
    const times = { checked_at: RECORDED_AT, changed_at: RECORDED_AT };
    const texts = { url: '"http://a.example/"', etag: '"e"', last_modified: null };
    const row = { document_id, content_claim: "c", ...texts, result: "new", error: null, read: 1, ...times };
    const key = { source_id, page: "p" };
    expect(from(first)).toEqual([
      { table: "source_pages", kind: "put", key, row: { organization_id: ORGANIZATION, ...row } },
    ]);
    const later = SourcePagesRead.of({ source_id, read: 2, pages: [{ page: "p", result: "same" }] }, { pages: [{}] });
    const same = { result: "same", error: null, read: 2, checked_at: RECORDED_AT };
    expect(from(later)).toEqual([{ table: "source_pages", kind: "patch", key, row: same }]);
    const removed = SourcePagesRead.of(
      { source_id, read: 3, pages: [{ page: "p", result: "removed" }] },
      { pages: [] },
    );
    expect(from(removed)).toMatchObject([{ row: { document_id: null, result: "removed" } }]);
    expect(from(SourceReadStarted.of({ source_id, read: 4, next: null, worker: null }))).toMatchObject([
      { row: { read: 4, reading: true } },
      { kind: "removeWhere", where: { source_id, result: "removed" } },
    ]);
  });

  test("keeps the pages of a deleted source as long as their documents are being deleted", () => {
    const row = { table: "sources", kind: "remove", key: { id: source_id } };
    const pages = { table: "source_pages", kind: "removeWhere", where: { source_id } };
    expect(from(SourceDeleted.of({ source_id, documents: false }))).toEqual([row, pages]);
    expect(from(SourceDeleted.of({ source_id, documents: true }))).toEqual([row]);
    expect(from(SourceEmptied.of({ source_id }))).toEqual([pages]);
  });
});
