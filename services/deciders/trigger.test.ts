import { expect, test } from "vitest";
import { SigningSecretSet, TriggerCreated, TriggerDeleted, TriggerDisabled, TriggerRotated } from "#events/trigger.ts";
import { command, given } from "#test/given.ts";
import { trigger } from "./trigger.ts";

const trigger_id = "t1";
const secret = { secret_hash: "h1", secret_hint: "abcd" };
const fixed = { trigger_id, ...secret, workflow_id: "w1", hook_token: "token", run_as: null };
const words = { name: "shop", default_args: '{"a":1}' };
const created = TriggerCreated.of(fixed, words);
const disabled = TriggerDisabled.of({ trigger_id });
const deleted = TriggerDeleted.of({ trigger_id });
const create = command("CreateTrigger", { ...fixed, ...words });
const rotate = command("RotateTrigger", { trigger_id, secret_hash: "h2", secret_hint: "efgh" });
const disable = command("DisableTrigger", { trigger_id });
const remove = command("DeleteTrigger", { trigger_id });

test("a trigger can be created only once", () => {
  given(trigger).when(create).then(created);
  given(trigger, [created]).when(create).rejected("trigger_exists");
  given(trigger, [created, deleted]).when(create).rejected("trigger_exists");
});

test("rotating a trigger replaces its secret", () => {
  const rotated = TriggerRotated.of({ trigger_id, secret_hash: "h2", secret_hint: "efgh" });
  given(trigger, [created]).when(rotate).then(rotated);
  given(trigger, [created, rotated]).when(rotate).then(rotated);
  given(trigger, [created, disabled]).when(rotate).rejected("trigger_disabled");
});

test("a trigger of a sender that signs has one secret at a time, which ends with the trigger", () => {
  const signing = { credential_id: "c1", sealed_secret: "sealed" };
  const verify = { scheme: "stripe" as const };
  const signed = TriggerCreated.of(fixed, { ...words, verify, headers: ["x-a"] });
  const first = SigningSecretSet.of(
    { trigger_id, credential_id: "c1", ends_credential_id: null },
    { sealed_secret: "sealed" },
  );
  const second = SigningSecretSet.of(
    { trigger_id, credential_id: "c2", ends_credential_id: "c1" },
    { sealed_secret: "other" },
  );
  const replace = command("SetSigningSecret", { trigger_id, credential_id: "c2", sealed_secret: "other" });
  given(trigger)
    .when(command("CreateTrigger", { ...fixed, ...words, verify, headers: ["x-a"], signing }))
    .then(signed, first);
  given(trigger, [signed, first]).when(replace).then(second);
  given(trigger, [signed, first, disabled]).when(replace).rejected("trigger_disabled");
  const ended = { trigger_id, ends_credential_id: "c2" };
  given(trigger, [signed, first, second]).when(disable).then(TriggerDisabled.of(ended));
  given(trigger, [signed, first, second]).when(remove).then(TriggerDeleted.of(ended));
  expect(trigger.erases!([second], "trigger-t1")).toEqual({ things: ["credential-c1"] });
  expect(trigger.erases!([TriggerDeleted.of(ended)], "trigger-t1")).toEqual({
    things: ["trigger-t1", "credential-c2"],
  });
});

test("a trigger is disabled only once", () => {
  given(trigger, [created]).when(disable).then(disabled);
  given(trigger, [created, disabled]).when(disable).then();
  expect(trigger.erases!([created, disabled], "trigger-t1")).toEqual({ things: [] });
});

test("an enabled or disabled trigger is deleted with its key", () => {
  given(trigger, [created]).when(remove).then(deleted);
  given(trigger, [created, disabled]).when(remove).then(deleted);
  expect(trigger.erases!([deleted], "trigger-t1")).toEqual({ things: ["trigger-t1"] });
});

test("a trigger that does not exist cannot be rotated, disabled or deleted", () => {
  for (const request of [rotate, disable, remove]) {
    given(trigger).when(request).rejected("trigger_not_found");
    given(trigger, [created, deleted]).when(request).rejected("trigger_not_found");
  }
});
