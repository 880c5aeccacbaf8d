import { describe, expect, test } from "vitest";
import { TriggerCreated, TriggerDeleted, TriggerDisabled, TriggerRotated } from "#events/trigger.ts";
import { changesOf, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/given.ts";
import { triggers } from "./project.ts";

const trigger_id = "0198c0de-0000-7000-8000-00000000000a";
const workflow_id = "0198c0de-0000-7000-8000-00000000000b";
const key = { id: trigger_id };
const from = (...events: Parameters<typeof changesOf>[2][]) => changesOf(triggers, `trigger-${trigger_id}`, ...events);
const created = TriggerCreated.of(
  { trigger_id, workflow_id, hook_token: "token", secret_hash: "h1", secret_hint: "abcd", run_as: null },
  { name: "shop \ud800", default_args: JSON.stringify({ text: "\u0000" }) },
);
const row = {
  organization_id: ORGANIZATION,
  workflow_id,
  hook_token: "token",
  secret_hash: "h1",
  secret_hint: "abcd",
  run_as: null,
  enabled: true,
  name: '"shop \\ud800"',
  default_args: '{"text":"\\u0000"}',
  created_at: RECORDED_AT,
  rotated_at: null,
};

describe("triggers", () => {
  test("a created trigger is a row", () => {
    expect(from(created)).toEqual([{ table: "triggers", kind: "put", key, row }]);
    expect(from(erased(created))).toEqual([]);
    const person = { type: "person" as const, id: workflow_id };
    const own = TriggerCreated.of({ ...created.data, run_as: person }, created.personal!);
    expect(from(own)).toMatchObject([{ row: { run_as: JSON.stringify(person) } }]);
  });

  test("a new secret is the only one that is kept", () => {
    expect(from(TriggerRotated.of({ trigger_id, secret_hash: "h2", secret_hint: "efgh" }))).toEqual([
      {
        table: "triggers",
        kind: "patch",
        key,
        row: { secret_hash: "h2", secret_hint: "efgh", rotated_at: RECORDED_AT },
      },
    ]);
  });

  test("a disabled one stays, a deleted one goes", () => {
    expect(from(TriggerDisabled.of({ trigger_id }), TriggerDeleted.of({ trigger_id }))).toEqual([
      { table: "triggers", kind: "patch", key, row: { enabled: false } },
      { table: "triggers", kind: "remove", key },
    ]);
  });
});
