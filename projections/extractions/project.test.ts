import { describe, expect, test } from "vitest";
import {
  ExtractionCompleted,
  ExtractionDeleted,
  ExtractionExpired,
  ExtractionFailed,
  ExtractionRequested,
  ExtractionStarted,
} from "#events/extraction.ts";
import { changesOf, erased, ORGANIZATION } from "#test/projections/given.ts";
import { extractions } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const from = (...events: Parameters<typeof changesOf>[2][]) => changesOf(extractions, `extraction-${id}`, ...events);
const patch = (row: object) => ({ table: "extractions", kind: "patch", key: { id }, row });
const requested = ExtractionRequested.of(
  {
    extraction_id: id,
    mime_type: "text/csv",
    size_bytes: 3,
    blob: "b",
    content_claim: "c",
    expires_at: "2026-01-03T03:04:04.999Z",
    worker: null,
  },
  { name: "a.csv", sha256: "00" },
);

describe("extractions", () => {
  test("one that was asked for lives a day to the millisecond; erased, it leaves no row", () => {
    expect(from(requested, erased(requested))).toEqual([
      {
        table: "extractions",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          name: '"a.csv"',
          mime_type: '"text/csv"',
          size_bytes: 3,
          status: "pending",
          created_at: new Date("2026-01-02T03:04:04.999Z"),
          expires_at: new Date("2026-01-03T03:04:04.999Z"),
        },
      },
    ]);
  });

  test("it is read, or not", () => {
    const work = { extraction_id: id, attempt: 1 };
    const failed = ExtractionFailed.of({ ...work, content_claim: "c" }, { error: "Scanned." });
    expect(
      from(
        ExtractionStarted.of({ ...work, worker: "w" }),
        ExtractionCompleted.of({ ...work, text: "t", page_count: null, chunk_count: 2, characters: 9, units: 1 }),
        failed,
        erased(failed),
      ),
    ).toEqual([
      patch({ status: "processing" }),
      patch({ status: "ready", text_blob: "t", page_count: null, chunk_count: 2 }),
      patch({ status: "failed", error: '"Scanned."' }),
      patch({ status: "failed", error: null }),
    ]);
  });

  test("deleted or expired, it is gone", () => {
    const gone = { extraction_id: id, content_claim: null };
    const remove = { table: "extractions", kind: "remove", key: { id } };
    expect(from(ExtractionDeleted.of(gone), ExtractionExpired.of(gone))).toEqual([remove, remove]);
  });
});
