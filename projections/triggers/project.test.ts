import { describe, expect, test } from "vitest";
import { SigningSecretSet, TriggerCreated, TriggerDeleted, TriggerDisabled, TriggerRotated } from "#events/trigger.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { triggers } from "./project.ts";

const trigger_id = "0198c0de-0000-7000-8000-00000000000a";
const workflow_id = "0198c0de-0000-7000-8000-00000000000b";
const key = { id: trigger_id };
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(triggers, `trigger-${trigger_id}`, ...events);
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
  set_by: "system",
  verify: null,
  headers: "[]",
  event: null,
};

describe("the triggers projection", () => {
  test("inserts a created trigger", () => {
    expect(from(created)).toEqual([{ table: "triggers", kind: "put", key, row }]);
    expect(from(erased(created))).toEqual([]);
    const person = { type: "person" as const, id: workflow_id };
    const own = TriggerCreated.of({ ...created.data, run_as: person }, created.personal!);
    expect(from(own)).toMatchObject([{ row: { run_as: JSON.stringify(person) } }]);
  });

  test("shows how the sender signs, and holds the sealed secret until the trigger ends", () => {
    const verify = { scheme: "github" as const };
    const signed = TriggerCreated.of(created.data, { ...created.personal!, verify, headers: ["x-github-event"] });
    expect(from(signed)).toMatchObject([{ row: { verify: '{"scheme":"github"}', headers: '["x-github-event"]' } }]);
    const data = { trigger_id, credential_id: workflow_id, ends_credential_id: null };
    const set = SigningSecretSet.of(data, { sealed_secret: "sealed" });
    expect(from(set)).toEqual([
      { table: "triggers", kind: "patch", key, row: { sealed_secret: "sealed", set_by: "system" } },
    ]);
    expect(from(erased(set))).toMatchObject([{ row: { sealed_secret: null } }]);
  });

  test("replaces the secret of a rotated trigger", () => {
    expect(from(TriggerRotated.of({ trigger_id, secret_hash: "h2", secret_hint: "efgh" }))).toEqual([
      {
        table: "triggers",
        kind: "patch",
        key,
        row: { secret_hash: "h2", secret_hint: "efgh", rotated_at: RECORDED_AT, set_by: "system" },
      },
    ]);
  });

  test("keeps a disabled trigger and removes a deleted one", () => {
    expect(from(TriggerDisabled.of({ trigger_id }), TriggerDeleted.of({ trigger_id }))).toEqual([
      { table: "triggers", kind: "patch", key, row: { enabled: false, sealed_secret: null } },
      { table: "triggers", kind: "remove", key },
    ]);
  });
});
