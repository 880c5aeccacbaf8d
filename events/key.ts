import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";

export const Product = z.enum(["knowledge", "extraction"]);

/** The settings of an API key that can be changed. */
const Settings = z.object({
  products: z.array(Product),
  expires_at: z.iso.datetime().nullable(),
  enabled: z.boolean(),
  allowed_models: z.array(z.string()).nullable(),
  /** Whether completions may pass the caller's own tools. Absent means no; old events lack it. */
  client_tools: z.boolean().optional(),
});
const KeySecret = z.object({
  key_id: z.uuid(),
  /** SHA-256 of the whole key, hex. A plain hash is enough, because the key holds 256 random bits. */
  key_hash: z.string(),
  /** The last four characters, shown to people to distinguish keys. */
  key_hint: z.string(),
});
const KeyIdentity = KeySecret.extend({
  project_id: z.uuid().nullable(),
});

export const CreateKey = defineCommand(
  "CreateKey",
  "key",
  KeyIdentity.extend(Settings.shape).extend({ name: z.string().max(200) }),
);
export const ChangeKey = defineCommand(
  "ChangeKey",
  "key",
  Settings.partial().extend({ key_id: z.uuid(), name: z.string().max(200).optional() }),
);
/** The key keeps its id, and with it its threads and files. The old secret stops working at once. */
export const RotateKey = defineCommand("RotateKey", "key", KeySecret);
export const DeleteKey = defineCommand("DeleteKey", "key", z.object({ key_id: z.uuid() }));

const thing = (data: { key_id: string }) => streamName("key", data.key_id);
export const KeyCreated = defineEvent("KeyCreated", {
  public: KeyIdentity.extend(Settings.shape),
  personal: z.object({ name: z.string() }),
  thing,
  opens: true,
});
/** Holds only the changed fields. */
export const KeyChanged = defineEvent("KeyChanged", {
  public: Settings.partial().extend({ key_id: z.uuid() }),
  personal: z.object({ name: z.string().optional() }),
  thing,
});
export const KeyRotated = defineEvent("KeyRotated", { public: KeySecret });
export const KeyDeleted = defineEvent("KeyDeleted", { public: z.object({ key_id: z.uuid() }) });

export type KeyCommand = CommandsIn<typeof import("./key.ts")>;
export type KeyEvent = EventsIn<typeof import("./key.ts")>;
