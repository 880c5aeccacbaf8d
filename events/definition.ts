import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ definition_id: z.uuid() });

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** As a tool is told to models, so that every provider takes it. */
export const DEFINITION_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** How a step is tried; what `defineStep` leaves out has these values. */
export const StepSettings = z.object({
  /** Attempts after the first. */
  retries: z.int().min(0).max(20).default(3),
  backoff: z
    .object({
      kind: z.enum(["exponential", "fixed"]).default("exponential"),
      initial_ms: z.number().min(0).max(WEEK_MS).default(500),
      factor: z.number().min(1).max(100).default(2),
      max_ms: z.number().min(0).max(WEEK_MS).default(60_000),
      /** Share of the delay that chance takes or adds. */
      jitter: z.number().min(0).max(1).default(0.2),
    })
    .default({ kind: "exponential", initial_ms: 500, factor: 2, max_ms: 60_000, jitter: 0.2 }),
  timeout_s: z.number().min(0.001).max(3_600).default(300),
  /** What becomes of an attempt whose worker was lost: another one, or failure (at most once). */
  on_lost: z.enum(["retry", "fail"]).default("retry"),
  /** JSON Schema of its arguments. */
  input: z.record(z.string(), z.unknown()).nullable().default(null),
});
export type StepSettings = z.infer<typeof StepSettings>;

/** What a script says of itself, as it was read from it when it was saved. */
export const ScriptMeta = z.object({
  description: z.string(),
  /** JSON Schema of its arguments. */
  parameters: z.record(z.string(), z.unknown()),
  /** Secrets that it asks for. */
  secrets: z.array(z.string()),
  /** Of a workflow. `parameters` are its arguments then. */
  workflow: z
    .object({
      steps: z.record(z.string(), StepSettings),
      /** What a reader of the code would warn of. */
      lint: z.array(z.object({ code: z.string(), message: z.string(), line: z.int(), column: z.int() })),
      /** Whether code outside of the steps may catch what suspends `run()`. */
      catches: z.boolean().optional(),
    })
    .optional(),
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
