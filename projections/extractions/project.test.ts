import { describe, expect, test } from "vitest";
import {
  ExtractionCompleted,
  ExtractionDeleted,
  ExtractionExpired,
  ExtractionFailed,
  ExtractionRequested,
  ExtractionStarted,
} from "#events/extraction.ts";
import { projectEvents, erased, ORGANIZATION } from "#test/projections/projectEvents.ts";
import { extractions } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(extractions, `extraction-${id}`, ...events);
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

describe("the extractions projection", () => {
  test("inserts a requested extraction exactly a day before its expiry, and nothing if it was erased", () => {
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

  test("patches the status of an extraction that is started, completed or failed", () => {
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
      patch({ status: "ready", text_blob: "t", page_count: null, chunk_count: 2, warnings: null }),
      patch({ status: "failed", error: '"Scanned."' }),
      patch({ status: "failed", error: null }),
    ]);
  });

  test("removes a deleted or expired extraction", () => {
    const gone = { extraction_id: id, content_claim: null };
    const remove = { table: "extractions", kind: "remove", key: { id } };
    expect(from(ExtractionDeleted.of(gone), ExtractionExpired.of(gone))).toEqual([remove, remove]);
  });
});
