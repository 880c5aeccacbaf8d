import { expect, test } from "vitest";
import { TriggerCreated, TriggerDeleted, TriggerDisabled, TriggerRotated } from "#events/trigger.ts";
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

test("a trigger is created once", () => {
  given(trigger).when(create).then(created);
  given(trigger, [created]).when(create).rejected("trigger_exists");
  given(trigger, [created, deleted]).when(create).rejected("trigger_exists");
});

test("a secret takes the place of the one before", () => {
  const rotated = TriggerRotated.of({ trigger_id, secret_hash: "h2", secret_hint: "efgh" });
  given(trigger, [created]).when(rotate).then(rotated);
  given(trigger, [created, rotated]).when(rotate).then(rotated);
  given(trigger, [created, disabled]).when(rotate).rejected("trigger_disabled");
});

test("it is disabled, once, and stays for its runs", () => {
  given(trigger, [created]).when(disable).then(disabled);
  given(trigger, [created, disabled]).when(disable).then();
  expect(trigger.erases!([created, disabled], "trigger-t1")).toEqual({ things: [] });
});

test("it is deleted, with its key, whether it was disabled or not", () => {
  given(trigger, [created]).when(remove).then(deleted);
  given(trigger, [created, disabled]).when(remove).then(deleted);
  expect(trigger.erases!([deleted], "trigger-t1")).toEqual({ things: ["trigger-t1"] });
});

test("there is nothing to do to one that is not there", () => {
  for (const asked of [rotate, disable, remove]) {
    given(trigger).when(asked).rejected("trigger_not_found");
    given(trigger, [created, deleted]).when(asked).rejected("trigger_not_found");
  }
});
