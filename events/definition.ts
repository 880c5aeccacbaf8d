import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ definition_id: z.uuid() });

/** As a tool is told to models, so that every provider takes it. */
export const DEFINITION_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** What a script says of itself, as it was read from it when it was saved. */
export const ScriptMeta = z.object({
  description: z.string(),
  /** JSON Schema of its arguments. */
  parameters: z.record(z.string(), z.unknown()),
  /** Secrets that it asks for. */
  secrets: z.array(z.string()),
});
export type ScriptMeta = z.infer<typeof ScriptMeta>;

const Saved = Id.extend({
  type: z.enum(["tool", "workflow"]),
  /** Mark (see Keyring.mark) of organization, type and name. */
  name_claim: z.string(),
  /** Key of the blob (JSON `{source, js}`), sealed with the definition's data key. */
  blob: z.string(),
  /** SHA-256 of the JavaScript, hex. */
  sha256: z.string(),
});
const Words = z.object({
  name: z.string(),
  meta: ScriptMeta,
  /** Secrets that a builder lets it have. */
  grants: z.array(z.string()),
});

export const CreateDefinition = defineCommand("CreateDefinition", "definition", Saved.extend(Words.shape));
/** Every save is a version; the type stays. */
export const SaveDefinition = defineCommand(
  "SaveDefinition",
  "definition",
  Saved.omit({ type: true }).extend(Words.shape),
);
export const DeleteDefinition = defineCommand("DeleteDefinition", "definition", Id);

const thing = (data: { definition_id: string }) => streamOf("definition", data.definition_id);
const Version = z.object({ version: z.int().positive() });
export const DefinitionCreated = defineEvent("DefinitionCreated", {
  public: Saved.extend(Version.shape),
  personal: Words,
  thing,
  opens: true,
});
export const DefinitionSaved = defineEvent("DefinitionSaved", {
  /** `released`: the claim that a new name gives back. */
  public: Saved.extend(Version.shape).extend({ released: z.string().nullable() }),
  personal: Words,
  thing,
});
export const DefinitionDeleted = defineEvent("DefinitionDeleted", { public: Id.extend({ name_claim: z.string() }) });

export type DefinitionCommand =
  | CommandFrom<typeof CreateDefinition>
  | CommandFrom<typeof SaveDefinition>
  | CommandFrom<typeof DeleteDefinition>;
export type DefinitionEvent =
  | EventFrom<typeof DefinitionCreated>
  | EventFrom<typeof DefinitionSaved>
  | EventFrom<typeof DefinitionDeleted>;
