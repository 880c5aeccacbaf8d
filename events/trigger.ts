import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";
import { RunAs } from "./workflow.ts";

const Id = z.object({ trigger_id: z.uuid() });
/** Of 256 random bits; nothing more is kept of the secret. */
const Secret = z.object({ secret_hash: z.string(), secret_hint: z.string() });
const Created = Id.extend(Secret.shape).extend({
  workflow_id: z.uuid(),
  /** The last segment of the hook's address; public, and worth nothing without the secret. */
  hook_token: z.string(),
  /** In place of the workflow's own. */
  run_as: RunAs.nullable(),
});
const Words = z.object({
  name: z.string().max(200),
  /** JSON of the object that the caller's payload is merged over. */
  default_args: z.string(),
});

export const CreateTrigger = defineCommand("CreateTrigger", "trigger", Created.extend(Words.shape));
export const RotateTrigger = defineCommand("RotateTrigger", "trigger", Id.extend(Secret.shape));
/** Stays for the runs that it has started. */
export const DisableTrigger = defineCommand("DisableTrigger", "trigger", Id);
export const DeleteTrigger = defineCommand("DeleteTrigger", "trigger", Id);

const thing = (data: { trigger_id: string }) => streamOf("trigger", data.trigger_id);
export const TriggerCreated = defineEvent("TriggerCreated", { public: Created, personal: Words, thing, opens: true });
export const TriggerRotated = defineEvent("TriggerRotated", { public: Id.extend(Secret.shape) });
export const TriggerDisabled = defineEvent("TriggerDisabled", { public: Id });
export const TriggerDeleted = defineEvent("TriggerDeleted", { public: Id });

export type TriggerCommand =
  | CommandFrom<typeof CreateTrigger>
  | CommandFrom<typeof RotateTrigger>
  | CommandFrom<typeof DisableTrigger>
  | CommandFrom<typeof DeleteTrigger>;
export type TriggerEvent =
  | EventFrom<typeof TriggerCreated>
  | EventFrom<typeof TriggerRotated>
  | EventFrom<typeof TriggerDisabled>
  | EventFrom<typeof TriggerDeleted>;
