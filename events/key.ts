import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

export const Product = z.enum(["knowledge", "extraction"]);

/** What may be changed of an API key (decisions: accounts). */
const Settings = z.object({
  products: z.array(Product),
  expires_at: z.iso.datetime().nullable(),
  enabled: z.boolean(),
  allowed_models: z.array(z.string()).nullable(),
});
const Fixed = z.object({
  key_id: z.uuid(),
  /** SHA-256 of the whole key, hex; the key holds 256 random bits. */
  key_hash: z.string(),
  /** The last four characters, for people to tell keys apart. */
  key_hint: z.string(),
  project_id: z.uuid().nullable(),
});

export const CreateKey = defineCommand(
  "CreateKey",
  "key",
  Fixed.extend(Settings.shape).extend({ name: z.string().max(200) }),
);
export const ChangeKey = defineCommand(
  "ChangeKey",
  "key",
  Settings.partial().extend({ key_id: z.uuid(), name: z.string().max(200).optional() }),
);
export const DeleteKey = defineCommand("DeleteKey", "key", z.object({ key_id: z.uuid() }));

const thing = (data: { key_id: string }) => streamOf("key", data.key_id);
export const KeyCreated = defineEvent("KeyCreated", {
  public: Fixed.extend(Settings.shape),
  personal: z.object({ name: z.string() }),
  thing,
  opens: true,
});
/** Only what changed; `name` is personal. */
export const KeyChanged = defineEvent("KeyChanged", {
  public: Settings.partial().extend({ key_id: z.uuid() }),
  personal: z.object({ name: z.string().optional() }),
  thing,
});
export const KeyDeleted = defineEvent("KeyDeleted", { public: z.object({ key_id: z.uuid() }) });

export type KeyCommand = CommandFrom<typeof CreateKey> | CommandFrom<typeof ChangeKey> | CommandFrom<typeof DeleteKey>;
export type KeyEvent = EventFrom<typeof KeyCreated> | EventFrom<typeof KeyChanged> | EventFrom<typeof KeyDeleted>;
