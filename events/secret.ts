import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";

/** Names that a script can use for a secret. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** An organization has one secret per name, so the id is derived from both. */
export const secretStream = (organization: string, name: string): string =>
  streamName("secret", deriveId("secret", organization, name));

/** Every value has its own data key, which is destroyed when the value is replaced or removed. */
const SecretIdentity = z.object({ name: z.string(), credential_id: z.uuid() });
/** The value (base64), sealed with the deployment's master key before http sends the command. */
const SealedValue = z.object({ sealed_value: z.string() });
/** The value that this event destroys. */
const EndedValue = z.object({ ends_credential_id: z.uuid().nullable() });

export const SetSecret = defineCommand("SetSecret", "secret", SecretIdentity.extend(SealedValue.shape));
export const RemoveSecret = defineCommand("RemoveSecret", "secret", z.object({ name: z.string() }));

export const SecretSet = defineEvent("SecretSet", {
  public: SecretIdentity.extend(EndedValue.shape),
  personal: SealedValue,
  thing: (data) => streamName("credential", data.credential_id),
  opens: true,
});
export const SecretRemoved = defineEvent("SecretRemoved", { public: EndedValue.extend({ name: z.string() }) });

export type SecretCommand = CommandsIn<typeof import("./secret.ts")>;
export type SecretEvent = EventsIn<typeof import("./secret.ts")>;
