import { expect, test } from "vitest";
import { RetentionAdvanced, RetentionRemoved, RetentionRoundEnded, RetentionSet } from "#events/retention.ts";
import { command, given } from "#test/given.ts";
import { retention } from "./retention.ts";

const AT = "2026-11-23T12:00:00.000Z";
const HOUR_LATER = "2026-11-23T13:00:00.000Z";
const subject = "organization";
const rules = { threads: 30 };
const set = RetentionSet.of({ subject, rules, due_at: AT });
const removed = RetentionRemoved.of({ subject });
const counts = (threads: number, files = 0, documents = 0, runs = 0) => ({
  threads,
  files,
  documents,
  runs,
  turns: 0,
});
const endRound = (round: number) => command("EndRetentionRound", { subject, round }, { at: AT });

test("rules are due at once, and again an hour after each round, which ends once", () => {
  given(retention)
    .when(command("SetRetention", { subject, rules }, { at: AT }))
    .then(set);
  const ended = RetentionRoundEnded.of({ subject, round: 1, due_at: HOUR_LATER });
  given(retention, [set]).when(endRound(1)).then(ended);
  given(retention, [set, ended]).when(endRound(1)).then();
  // a round under the previous rules
  given(retention, [set, set]).when(endRound(1)).then();
  given(retention, [set, removed]).when(endRound(2)).then();
  const dueAfter = (...events: Parameters<typeof given>[1] & object) =>
    retention.workStatus!(given(retention, events).state);
  expect(dueAfter(set, ended)).toEqual({ status: "waiting", due_at: HOUR_LATER, worker: null });
  expect(dueAfter(set, removed)).toEqual({ status: null, due_at: null, worker: null });
  expect(dueAfter()).toEqual({ status: null, due_at: null, worker: null });
});

test("deletions are added up, also over a change of the rules; rules that are not set cannot be removed", () => {
  const first = RetentionAdvanced.of({ subject, deleted: counts(50, 2) });
  given(retention, [set, first, set])
    .when(command("AdvanceRetention", { subject, deleted: counts(3, 0, 1, 4) }))
    .then(RetentionAdvanced.of({ subject, deleted: counts(53, 2, 1, 4) }));
  // an event of releases without rules for runs and turns
  const { runs: _, turns: __, ...older } = counts(1);
  given(retention, [set, RetentionAdvanced.of({ subject, deleted: older })])
    .when(command("AdvanceRetention", { subject, deleted: counts(0, 0, 0, 2) }))
    .then(RetentionAdvanced.of({ subject, deleted: counts(1, 0, 0, 2) }));
  given(retention, [set]).when(command("RemoveRetention", { subject })).then(removed);
  for (const events of [[], [set, removed]])
    given(retention, events).when(command("RemoveRetention", { subject })).rejected("retention_not_found");
});
