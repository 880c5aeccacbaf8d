import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { DAY_MS } from "./units.ts";

const Id = z.object({ definition_id: z.uuid() });

const WEEK_MS = 7 * DAY_MS;

/** The tool names that every model provider accepts. */
export const DEFINITION_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Retry and timeout settings of a step, with the defaults of `defineStep`. */
export const StepSettings = z.object({
  /** Attempts after the first. */
  retries: z.int().min(0).max(20).default(3),
  backoff: z
    .object({
      kind: z.enum(["exponential", "fixed"]).default("exponential"),
      initial_ms: z.number().min(0).max(WEEK_MS).default(500),
      factor: z.number().min(1).max(100).default(2),
      max_ms: z.number().min(0).max(WEEK_MS).default(60_000),
      /** Largest random change of the delay, as a fraction of it. */
      jitter: z.number().min(0).max(1).default(0.2),
    })
    .default({ kind: "exponential", initial_ms: 500, factor: 2, max_ms: 60_000, jitter: 0.2 }),
  timeout_s: z.number().min(0.001).max(3_600).default(300),
  /** After its worker was lost, a step is retried or fails; `fail` means that it runs at most once. */
  on_lost: z.enum(["retry", "fail"]).default("retry"),
  /** JSON Schema of its arguments. */
  input: z.record(z.string(), z.unknown()).nullable().default(null),
});
export type StepSettings = z.infer<typeof StepSettings>;

/** What a script declares. It is extracted when the script is saved. */
export const ScriptMeta = z.object({
  description: z.string(),
  /** JSON Schema of its arguments. */
  parameters: z.record(z.string(), z.unknown()),
  /** Names of the secrets it uses. */
  secrets: z.array(z.string()),
  /** Present for a workflow; then `parameters` describes the arguments of a run. */
  workflow: z
    .object({
      steps: z.record(z.string(), StepSettings),
      /** Warnings of the static check. */
      lint: z.array(z.object({ code: z.string(), message: z.string(), line: z.int(), column: z.int() })),
      /** Whether code outside the steps could catch the signal that suspends `run()`. */
      catches: z.boolean().optional(),
      /** Whether answers reach `run()` in the order of the log. Versions of earlier releases have none. */
      ordered: z.boolean().optional(),
    })
    .optional(),
});
export type ScriptMeta = z.infer<typeof ScriptMeta>;

const SavedVersion = Id.extend({
  type: z.enum(["tool", "workflow"]),
  /** Keyed hash (see Keyring.keyedHash) of organization, type and name. */
  name_claim: z.string(),
  /** Key of the blob (JSON `{source, js}`), sealed with the definition's data key. */
  blob: z.string(),
  /** SHA-256 of the JavaScript, hex. */
  sha256: z.string(),
});
const Personal = z.object({
  name: z.string(),
  meta: ScriptMeta,
  /** Names of the secrets that a builder has granted to it. */
  grants: z.array(z.string()),
});

const NewVersion = SavedVersion.extend(Personal.shape).extend({
  /** Bytes of the script in the blob, before it is sealed. */
  size_bytes: z.int().nonnegative().optional(),
});

export const CreateDefinition = defineCommand("CreateDefinition", "definition", NewVersion);
/** Every save creates a version. The type never changes. */
export const SaveDefinition = defineCommand("SaveDefinition", "definition", NewVersion.omit({ type: true }));
export const DeleteDefinition = defineCommand("DeleteDefinition", "definition", Id);

const thing = (data: { definition_id: string }) => streamName("definition", data.definition_id);
const Version = z.object({
  version: z.int().positive(),
  /** Bytes of the scripts of all versions until this one. Absent: recorded before they were counted. */
  stored_bytes: z.int().nonnegative().optional(),
});
export const DefinitionCreated = defineEvent("DefinitionCreated", {
  public: SavedVersion.extend(Version.shape),
  personal: Personal,
  thing,
  opens: true,
});
export const DefinitionSaved = defineEvent("DefinitionSaved", {
  /** `released`: the claim of the previous name, when the name changes. */
  public: SavedVersion.extend(Version.shape).extend({ released: z.string().nullable() }),
  personal: Personal,
  thing,
});
export const DefinitionDeleted = defineEvent("DefinitionDeleted", { public: Id.extend({ name_claim: z.string() }) });

export type DefinitionCommand = CommandsIn<typeof import("./definition.ts")>;
export type DefinitionEvent = EventsIn<typeof import("./definition.ts")>;
