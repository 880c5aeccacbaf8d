import { expect, test } from "vitest";
import {
  RetentionAdvanced,
  RetentionRemoved,
  RetentionRoundEnded,
  RetentionSet,
  retentionStream,
} from "#events/retention.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { retention } from "./project.ts";

test("the rules of a subject are a row with their deletions, which stays without rules", () => {
  const subject = "organization";
  const stream = retentionStream(ORGANIZATION, subject);
  const due_at = "2026-11-23T12:00:00.000Z";
  const deleted = { threads: 3, files: 2, documents: 1, runs: 4 };
  const at = { table: "retention", key: { id: stream.slice("retention-".length) } };
  const changes = projectEvents(
    retention,
    stream,
    RetentionSet.of({ subject, rules: { threads: 30 }, due_at }),
    RetentionAdvanced.of({ subject, deleted }),
    RetentionRoundEnded.of({ subject, round: 1, due_at }),
    RetentionRemoved.of({ subject }),
  );
  const next_round_at = new Date(due_at);
  const none = { threads: 0, files: 0, documents: 0, runs: 0, turns: 0 };
  const row = { organization_id: ORGANIZATION, subject, ...none, created_at: RECORDED_AT };
  expect(changes).toEqual([
    { ...at, kind: "put", row: { ...row, rules: '{"threads":30}', next_round_at, updated_at: RECORDED_AT } },
    { ...at, kind: "patch", row: deleted },
    { ...at, kind: "patch", row: { last_round_at: RECORDED_AT, next_round_at } },
    { ...at, kind: "patch", row: { rules: null, next_round_at: null, updated_at: RECORDED_AT } },
  ]);
});
