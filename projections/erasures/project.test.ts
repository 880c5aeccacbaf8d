import { expect, test } from "vitest";
import { ErasureAdvanced, ErasureCompleted, ErasureStarted, NOTHING_ERASED } from "#events/erasure.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { erasures } from "./project.ts";

test("an erasure is a row with its owner, its deletions so far, and its end", () => {
  const id = "0198c0de-0000-7000-8000-00000000000a";
  const owner = "agent:0198c0de-0000-7000-8000-00000000000b";
  const of = { erasure_id: id };
  const events = [
    ErasureStarted.of({ ...of, owner }),
    ErasureAdvanced.of({ ...of, threads: 50, files: 1 }),
    ErasureAdvanced.of({ ...of, ...NOTHING_ERASED, threads: 51, runs: 3, documents: 2, extractions: 1 }),
    ErasureCompleted.of(of),
  ];
  const started = { organization_id: ORGANIZATION, position: 1, started_by: "system", created_at: RECORDED_AT };
  const at = { table: "erasures", key: { id } };
  expect(projectEvents(erasures, `erasure-${id}`, ...events)).toEqual([
    { ...at, kind: "put", row: { ...started, owner, status: "running", ...NOTHING_ERASED } },
    { ...at, kind: "patch", row: { ...NOTHING_ERASED, threads: 50, files: 1 } },
    { ...at, kind: "patch", row: { threads: 51, files: 0, runs: 3, documents: 2, extractions: 1 } },
    { ...at, kind: "patch", row: { status: "completed", completed_at: RECORDED_AT } },
  ]);
});
