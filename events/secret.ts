import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { idFrom, streamOf } from "./ids.ts";

/** As a secret is named in a script. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** One secret per organization and name, so its id follows from both. */
export const secretStream = (organization: string, name: string): string =>
  streamOf("secret", idFrom("secret", organization, name));

/** Each value is a thing of its own, with a data key that ends when it is replaced or removed. */
const Named = z.object({ name: z.string(), credential_id: z.uuid() });
/** Sealed under the deployment's master key by http before it is sent (base64). */
const Value = z.object({ sealed_value: z.string() });
/** The value that ends with this event. */
const Ends = z.object({ ends_credential_id: z.uuid().nullable() });

export const SetSecret = defineCommand("SetSecret", "secret", Named.extend(Value.shape));
export const RemoveSecret = defineCommand("RemoveSecret", "secret", z.object({ name: z.string() }));

export const SecretSet = defineEvent("SecretSet", {
  public: Named.extend(Ends.shape),
  personal: Value,
  thing: (data) => streamOf("credential", data.credential_id),
  opens: true,
});
export const SecretRemoved = defineEvent("SecretRemoved", { public: Ends.extend({ name: z.string() }) });

export type SecretCommand = CommandFrom<typeof SetSecret> | CommandFrom<typeof RemoveSecret>;
export type SecretEvent = EventFrom<typeof SecretSet> | EventFrom<typeof SecretRemoved>;
