import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { RunAs } from "./workflow.ts";

const Id = z.object({ trigger_id: z.uuid() });
/** Hash and hint of a secret of 256 random bits; the secret itself is not stored. */
const Secret = z.object({ secret_hash: z.string(), secret_hint: z.string() });
const TriggerSettings = Id.extend(Secret.shape).extend({
  workflow_id: z.uuid(),
  /** The last segment of the hook's address. It is public: a call also needs the secret. */
  hook_token: z.string(),
  /** Overrides the workflow's `run_as`; null: no override. */
  run_as: RunAs.nullable(),
});

/** Senders whose signature scheme is built in. */
export const PROVIDER_SCHEMES = [
  "github",
  "gitlab",
  "shopify",
  "slack",
  "standard-webhooks",
  "stripe",
  "twilio",
] as const;
export type ProviderScheme = (typeof PROVIDER_SCHEMES)[number];
const HmacScheme = z.object({
  scheme: z.literal("hmac"),
  /** Headers in lower case. */
  header: z.string(),
  algorithm: z.enum(["sha1", "sha256", "sha512"]),
  encoding: z.enum(["hex", "base64"]),
  /** The text before the signature in its header, such as `sha256=`. */
  prefix: z.string(),
  /** The header with a time in Unix seconds. If set, the signature covers the time, a full stop and the body. */
  timestamp_header: z.string().nullable(),
  /** The header with the sender's id of the delivery. */
  id_header: z.string().nullable(),
});
/** How the sender signs its deliveries, with a secret shared with the trigger. */
export const Verification = z.discriminatedUnion("scheme", [
  z.object({ scheme: z.enum(PROVIDER_SCHEMES) }),
  HmacScheme,
]);
export type Verification = z.infer<typeof Verification>;

const Personal = z.object({
  name: z.string().max(200),
  /** JSON of an object; the caller's payload overrides its fields. */
  default_args: z.string(),
  /** Null: the caller sends the trigger's own secret. */
  verify: Verification.nullable().optional(),
  /** Names, in lower case, of the request headers that `run()` receives. */
  headers: z.array(z.string()).optional(),
  /** Absent: a call starts a run. Set: a call sends an event of this name to the runs that wait for it. */
  event: z.string().optional(),
});

/** The secret of a sender's signatures (base64), sealed with the deployment's master key before http sends the command. */
const SealedSecret = z.object({ sealed_secret: z.string() });
/** Every secret has its own data key, which is destroyed when the secret is replaced and when its trigger ends. */
const SigningSecret = Id.extend({ credential_id: z.uuid() });

export const CreateTrigger = defineCommand(
  "CreateTrigger",
  "trigger",
  TriggerSettings.extend(Personal.shape).extend({
    signing: SigningSecret.omit({ trigger_id: true }).extend(SealedSecret.shape).optional(),
  }),
);
export const SetSigningSecret = defineCommand("SetSigningSecret", "trigger", SigningSecret.extend(SealedSecret.shape));
export const RotateTrigger = defineCommand("RotateTrigger", "trigger", Id.extend(Secret.shape));
/** A disabled trigger is kept, because the runs it started name it. */
export const DisableTrigger = defineCommand("DisableTrigger", "trigger", Id);
export const DeleteTrigger = defineCommand("DeleteTrigger", "trigger", Id);

const thing = (data: { trigger_id: string }) => streamName("trigger", data.trigger_id);
export const TriggerCreated = defineEvent("TriggerCreated", {
  public: TriggerSettings,
  personal: Personal,
  thing,
  opens: true,
});
export const SigningSecretSet = defineEvent("SigningSecretSet", {
  public: SigningSecret.extend({
    /** The secret that this event destroys. */
    ends_credential_id: z.uuid().nullable(),
  }),
  personal: SealedSecret,
  thing: (data) => streamName("credential", data.credential_id),
  opens: true,
});
export const TriggerRotated = defineEvent("TriggerRotated", { public: Id.extend(Secret.shape) });
/** The credential whose key is destroyed when the trigger ends. */
const EndedTrigger = Id.extend({ ends_credential_id: z.uuid().nullable().optional() });
export const TriggerDisabled = defineEvent("TriggerDisabled", { public: EndedTrigger });
export const TriggerDeleted = defineEvent("TriggerDeleted", { public: EndedTrigger });

export type TriggerCommand = CommandsIn<typeof import("./trigger.ts")>;
export type TriggerEvent = EventsIn<typeof import("./trigger.ts")>;
