import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { SECRET_NAME } from "./secret.ts";

/** The identity of a run: the deployment's own service, or a person of the organization. */
export const RunAs = z.object({ type: z.enum(["service", "person"]), id: z.uuid().nullable() });
export type RunAs = z.infer<typeof RunAs>;

/** A host name, or `*.` and a host name, which matches the host's subdomains as well as the host. A port may follow. */
const EGRESS_HOST = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)*(:\d{1,5})?$/;

const DAY_S = 86_400;

/** Limits of a single run, fixed when it starts. */
export const RunLimits = z.object({
  max_steps: z.int().min(1).max(10_000).default(1_000),
  /** Steps of one run that execute at the same time. */
  max_parallel: z.int().min(1).max(50).default(10),
  /** Seconds from the start of a run to its end, waiting included: more than a year, so that a timer of a year fires. */
  run_ttl_s: z
    .int()
    .min(1)
    .max(400 * DAY_S)
    .default(30 * DAY_S),
  /** Maximum seconds of one attempt at a step. */
  step_timeout_s: z.int().min(1).max(3_600).default(3_600),
  max_result_bytes: z.int().min(1_024).max(1_048_576).default(1_048_576),
});
export type RunLimits = z.infer<typeof RunLimits>;

/** Rules that a run copies when it starts. */
export const ApprovalRules = z.object({
  /** Seconds until an approval expires that sets no expiry of its own. */
  default_expiry_s: z
    .int()
    .min(1)
    .max(365 * DAY_S)
    .default(7 * DAY_S),
  /** Whether API keys may decide. */
  allow_api_key: z.boolean().default(true),
});

/** These apply when an approval is decided, also in live runs. Optional, because envelopes of earlier releases lack them. */
const EnvelopeApprovals = ApprovalRules.extend({
  /** Whether API keys may also decide approvals that name assignees or exclude the person who started the run; false by default. */
  allow_api_key_when_restricted: z.boolean().optional(),
  /** False: the person who started a run may not decide its approvals. True by default. */
  self_approval: z.boolean().optional(),
});

/** A limit of runs, for each value of the argument at this JSON pointer. */
const RunsPerKey = z.object({
  max_runs: z.int().min(1).max(1_000),
  key: z
    .string()
    .max(200)
    .regex(/^(\/[^/]+)+$/)
    .nullable()
    .default(null),
});
const StartRate = RunsPerKey.extend({ per_seconds: z.int().min(1).max(DAY_S) });

export const PRIORITIES = ["low", "normal", "high"] as const;
/** Which runs of an organization get a free place first, for their ticks and steps. */
export const Priority = z.enum(PRIORITIES);
export type Priority = z.infer<typeof Priority>;

/** A list of names that are compared exactly. Invisible characters are refused, because nobody could see the difference. */
const nameList = (maxLength: number) =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(maxLength)
        .regex(/^\P{C}+$/u, "has a character that does not show"),
    )
    .max(100);

/** `owner`: what the ids belong to, with its article. */
const idList = (owner: string) =>
  z
    .array(
      z
        .string()
        .regex(/^(\*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/, `is neither * nor ${owner}'s id in lower case`),
    )
    .max(100);

/** The rules an administrator sets for a workflow. No caller can influence them. */
export const Envelope = z.object({
  run_as: RunAs.default({ type: "service", id: null }),
  /** Secrets that its steps may read. */
  secrets: z.array(z.string().regex(SECRET_NAME)).max(100).default([]),
  /** Tools, collections (slugs), agents (ids) and models that its steps may use; `*` stands for all. */
  tools: nameList(100).default(["*"]),
  collections: nameList(200).default(["*"]),
  agents: idList("an agent").default(["*"]),
  models: nameList(200).default(["*"]),
  /** Workflows (ids) whose runs it may start; `*` stands for all. Optional, because envelopes of earlier releases lack it. */
  workflows: idList("a workflow").optional(),
  /** Collections (slugs) that its steps may write to; none by default. Optional, because envelopes of earlier releases lack it. */
  writable_collections: nameList(200).optional(),
  /** Hosts that its steps may fetch from; none by default. */
  egress: z.array(z.string().max(260).regex(EGRESS_HOST, "is no host name in lower case")).max(100).default([]),
  limits: RunLimits.default(RunLimits.parse({})),
  /** Maximum number of live runs. With a key (a JSON pointer) the limit applies to each value of that argument. */
  concurrency: RunsPerKey.nullable().default(null),
  /** Maximum number of starts in each period. Optional, as `priority` is, because envelopes of earlier releases lack them. */
  start_rate: StartRate.nullable().optional(),
  priority: Priority.optional(),
  approvals: EnvelopeApprovals.default({ default_expiry_s: 7 * DAY_S, allow_api_key: true }),
  /** Days from the end of a run until all its data is destroyed. */
  retention_days: z.int().min(1).max(3_650).default(90),
});
export type Envelope = z.infer<typeof Envelope>;

const change = <T extends z.ZodType>(setting: z.ZodDefault<T>) => setting.unwrap().nullish();
const { shape } = Envelope;

/**
 * A change of an envelope: omitted fields keep their value, null restores the default, a list replaces the previous list.
 * The command carries the change and the decider merges it, so that two concurrent changes do not undo each other.
 */
export const EnvelopeChange = z.strictObject({
  run_as: z.strictObject({ ...RunAs.shape, id: z.uuid().toLowerCase().nullable().default(null) }).nullish(),
  secrets: change(shape.secrets),
  tools: change(shape.tools),
  collections: change(shape.collections),
  agents: change(shape.agents),
  models: change(shape.models),
  workflows: shape.workflows.nullable(),
  writable_collections: shape.writable_collections.nullable(),
  egress: change(shape.egress),
  limits: z
    .strictObject({
      max_steps: change(RunLimits.shape.max_steps),
      max_parallel: change(RunLimits.shape.max_parallel),
      run_ttl_s: change(RunLimits.shape.run_ttl_s),
      step_timeout_s: change(RunLimits.shape.step_timeout_s),
      max_result_bytes: change(RunLimits.shape.max_result_bytes),
    })
    .nullish(),
  concurrency: z
    .strictObject({ max_runs: RunsPerKey.shape.max_runs.optional(), key: RunsPerKey.shape.key.unwrap().optional() })
    .nullish(),
  start_rate: z
    .strictObject({
      max_runs: StartRate.shape.max_runs.optional(),
      per_seconds: StartRate.shape.per_seconds.optional(),
      key: StartRate.shape.key.unwrap().optional(),
    })
    .nullish(),
  priority: shape.priority.nullable(),
  approvals: z
    .strictObject({
      default_expiry_s: change(ApprovalRules.shape.default_expiry_s),
      allow_api_key: change(ApprovalRules.shape.allow_api_key),
      allow_api_key_when_restricted: EnvelopeApprovals.shape.allow_api_key_when_restricted.nullable(),
      self_approval: EnvelopeApprovals.shape.self_approval.nullable(),
    })
    .nullish(),
  retention_days: change(shape.retention_days),
});
export type EnvelopeChange = z.infer<typeof EnvelopeChange>;

const Id = z.object({ workflow_id: z.uuid() });
const WorkflowSettings = Id.extend({
  definition_id: z.uuid(),
  definition_version: z.int().positive(),
  project_id: z.uuid().nullable(),
  enabled: z.boolean(),
  envelope: Envelope,
});
const Personal = z.object({ name: z.string().min(1).max(200), description: z.string().max(4_000) });

const RequestedSettings = WorkflowSettings.extend(Personal.shape).extend({ envelope: EnvelopeChange });

/** `envelope` holds the differences from the default envelope. */
export const RegisterWorkflow = defineCommand("RegisterWorkflow", "workflow", RequestedSettings);
/** Omitted fields keep their value. */
export const ChangeWorkflow = defineCommand(
  "ChangeWorkflow",
  "workflow",
  RequestedSettings.omit({ definition_id: true }).partial().extend(Id.shape),
);

const thing = (data: { workflow_id: string }) => streamName("workflow", data.workflow_id);
export const WorkflowRegistered = defineEvent("WorkflowRegistered", {
  public: WorkflowSettings,
  personal: Personal,
  thing,
  opens: true,
});
/** `envelope_version` counts the envelopes of the workflow from 1. */
export const WorkflowChanged = defineEvent("WorkflowChanged", {
  public: WorkflowSettings.omit({ definition_id: true })
    .partial()
    .extend(Id.shape)
    .extend({ envelope_version: z.int() }),
  personal: Personal.partial(),
  thing,
});

export type WorkflowCommand = CommandsIn<typeof import("./workflow.ts")>;
export type WorkflowEvent = EventsIn<typeof import("./workflow.ts")>;
