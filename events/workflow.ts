import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";
import { SECRET_NAME } from "./secret.ts";

/** Who a run acts for: the deployment's own service, or a person of the organization. */
export const RunAs = z.object({ type: z.enum(["service", "person"]), id: z.uuid().nullable() });
export type RunAs = z.infer<typeof RunAs>;

/** A host name, or `*.` and one: the name itself and what is below it. */
export const EGRESS_HOST =
  /^(\*\.)?[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)*(:\d{1,5})?$/;

const DAY_S = 86_400;

/** What bounds a single run; fixed when it starts. */
export const Limits = z.object({
  max_steps: z.int().min(1).max(10_000).default(1_000),
  /** Steps of one run at the same time. */
  max_parallel: z.int().min(1).max(50).default(10),
  /** Seconds that a run may live, waiting included. */
  run_ttl_s: z
    .int()
    .min(1)
    .max(365 * DAY_S)
    .default(30 * DAY_S),
  /** Seconds that an attempt at a step may take at most. */
  step_timeout_s: z.int().min(1).max(3_600).default(3_600),
  max_result_bytes: z.int().min(1_024).max(1_048_576).default(1_048_576),
});
export type Limits = z.infer<typeof Limits>;

export const ApprovalRules = z.object({
  /** Seconds until an approval that names no end of its own expires. */
  default_expiry_s: z
    .int()
    .min(1)
    .max(365 * DAY_S)
    .default(7 * DAY_S),
  /** Whether an API key may decide. */
  allow_api_key: z.boolean().default(true),
});

const Concurrency = z.object({
  max_runs: z.int().min(1).max(1_000),
  key: z
    .string()
    .max(200)
    .regex(/^(\/[^/]+)+$/)
    .nullable()
    .default(null),
});

/** Names that are looked up by what they are: any text, less what does not show. */
const Names = (longest: number) =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(longest)
        .regex(/^\P{C}+$/u, "has a character that does not show"),
    )
    .max(100);

/** The rules that an administrator sets around a workflow, and that no caller can influence. */
export const Envelope = z.object({
  run_as: RunAs.default({ type: "service", id: null }),
  /** Secrets that its steps may read. */
  secrets: z.array(z.string().regex(SECRET_NAME)).max(100).default([]),
  /** Tools, collections (slugs), agents (ids) and models that its steps may use; `*` stands for all. */
  tools: Names(100).default(["*"]),
  collections: Names(200).default(["*"]),
  agents: z
    .array(
      z
        .string()
        .regex(/^(\*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/, "is neither * nor an agent's id in lower case"),
    )
    .max(100)
    .default(["*"]),
  models: Names(200).default(["*"]),
  /** Hosts that its steps may fetch from. None by default. */
  egress: z.array(z.string().max(260).regex(EGRESS_HOST, "is no host name in lower case")).max(100).default([]),
  limits: Limits.default(Limits.parse({})),
  /** At most so many live runs; with a key, so many for each value of that argument (JSON pointer). */
  concurrency: Concurrency.nullable().default(null),
  approvals: ApprovalRules.default({ default_expiry_s: 7 * DAY_S, allow_api_key: true }),
  /** Days after its end at which a run is destroyed with all that it holds. */
  retention_days: z.int().min(1).max(3_650).default(90),
});
export type Envelope = z.infer<typeof Envelope>;

const change = <T extends z.ZodType>(setting: z.ZodDefault<T>) => setting.unwrap().nullish();
const { shape } = Envelope;

/**
 * What of an envelope shall be otherwise: what is left out stays, null puts the default back, a list takes the place of the one before.
 * It travels as a change, and the decider merges it, so that of two changes at once neither undoes the other.
 */
export const EnvelopeChange = z.strictObject({
  run_as: z.strictObject({ ...RunAs.shape, id: RunAs.shape.id.default(null) }).nullish(),
  secrets: change(shape.secrets),
  tools: change(shape.tools),
  collections: change(shape.collections),
  agents: change(shape.agents),
  models: change(shape.models),
  egress: change(shape.egress),
  limits: z
    .strictObject({
      max_steps: change(Limits.shape.max_steps),
      max_parallel: change(Limits.shape.max_parallel),
      run_ttl_s: change(Limits.shape.run_ttl_s),
      step_timeout_s: change(Limits.shape.step_timeout_s),
      max_result_bytes: change(Limits.shape.max_result_bytes),
    })
    .nullish(),
  concurrency: z
    .strictObject({ max_runs: Concurrency.shape.max_runs.optional(), key: Concurrency.shape.key.unwrap().optional() })
    .nullish(),
  approvals: z
    .strictObject({
      default_expiry_s: change(ApprovalRules.shape.default_expiry_s),
      allow_api_key: change(ApprovalRules.shape.allow_api_key),
    })
    .nullish(),
  retention_days: change(shape.retention_days),
});
export type EnvelopeChange = z.infer<typeof EnvelopeChange>;

const Id = z.object({ workflow_id: z.uuid() });
const Registered = Id.extend({
  definition_id: z.uuid(),
  definition_version: z.int().positive(),
  project_id: z.uuid().nullable(),
  enabled: z.boolean(),
  envelope: Envelope,
});
const Words = z.object({ name: z.string().min(1).max(200), description: z.string().max(4_000) });

const Asked = Registered.extend(Words.shape).extend({ envelope: EnvelopeChange });

/** The envelope is what differs from the default one. */
export const RegisterWorkflow = defineCommand("RegisterWorkflow", "workflow", Asked);
/** Only what changes. */
export const ChangeWorkflow = defineCommand(
  "ChangeWorkflow",
  "workflow",
  Asked.omit({ definition_id: true }).partial().extend(Id.shape),
);

const thing = (data: { workflow_id: string }) => streamOf("workflow", data.workflow_id);
export const WorkflowRegistered = defineEvent("WorkflowRegistered", {
  public: Registered,
  personal: Words,
  thing,
  opens: true,
});
/** `envelope_version` counts the envelopes that the workflow has had. */
export const WorkflowChanged = defineEvent("WorkflowChanged", {
  public: Registered.omit({ definition_id: true }).partial().extend(Id.shape).extend({ envelope_version: z.int() }),
  personal: Words.partial(),
  thing,
});

export type WorkflowCommand = CommandFrom<typeof RegisterWorkflow> | CommandFrom<typeof ChangeWorkflow>;
export type WorkflowEvent = EventFrom<typeof WorkflowRegistered> | EventFrom<typeof WorkflowChanged>;
