import { z } from "zod";
import { PROVIDER_SCHEMES } from "#events/trigger.ts";
import { EnvelopeChange, RunAs } from "#events/workflow.ts";
import type { ScheduleRow } from "#projections/schedules/query.ts";
import type { TriggerRow } from "#projections/triggers/query.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { ScheduleInput } from "../base/scheduleRule.ts";
import type { FieldCodes } from "../base/validate.ts";
import { NO_SCHEDULE, presentSchedule, Schedule, SCHEDULE_CODES, scheduleFields } from "./scheduleShape.ts";

/** In JSON: the arguments are part of a command, which may have 256 KiB. */
const MAX_DEFAULT_ARGS_BYTES = 65_536;

export const TRIGGER_CODES: FieldCodes = [
  [/^run_as/, "invalid_run_as"],
  [/^default_args/, "invalid_default_args"],
  [/^verify/, "invalid_verify"],
  [/^headers/, "invalid_headers"],
  [/^event/, "invalid_event"],
  ...SCHEDULE_CODES,
];

const HeaderName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be the name of a header")
  .toLowerCase();
/** Headers with credentials: `run()` and the run's record must not hold them. GitLab sends the secret of its sender as it is. */
const CREDENTIALS = /^(authorization|cookie|proxy-authorization|x-gitlab-token|x-.+-webhook-secret)$/;
export const holdsCredential = (header: string): boolean => CREDENTIALS.test(header);
const MAX_HEADERS = 20;

const SigningSecret = z
  .string()
  .min(8, "must have 8 characters or more")
  .max(1_024)
  .describe("The secret that the sender signs with. It is stored sealed and never shown.");
const ProviderVerification = z.object({ scheme: z.enum(PROVIDER_SCHEMES) });
const HmacVerification = z.object({
  scheme: z.literal("hmac"),
  header: HeaderName.describe("The header with the signature."),
  algorithm: z.enum(["sha1", "sha256", "sha512"]).default("sha256"),
  encoding: z.enum(["hex", "base64"]).default("hex"),
  prefix: z.string().max(50).default("").describe("What precedes the signature, such as `sha256=`."),
  timestamp_header: HeaderName.nullable()
    .default(null)
    .describe("The header with Unix seconds; the signature is then that of the time, a full stop and the body."),
  id_header: HeaderName.nullable().default(null).describe("The header with the sender's id of the delivery."),
});
const Verify = z
  .discriminatedUnion("scheme", [
    ProviderVerification.extend({ secret: SigningSecret }),
    HmacVerification.extend({ secret: SigningSecret }),
  ])
  .refine(({ scheme, secret }) => scheme !== "standard-webhooks" || /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(secret), {
    path: ["secret"],
    error: "must be base64, with or without whsec_ before it",
  });

const Fields = z.object({
  name: z.string().trim().max(200).nullish(),
  default_args: refuseInexact(z.record(z.string(), z.unknown(), "must be a JSON object"))
    .refine(
      (args) => Buffer.byteLength(JSON.stringify(args)) <= MAX_DEFAULT_ARGS_BYTES,
      `must be at most ${MAX_DEFAULT_ARGS_BYTES} bytes`,
    )
    .nullish()
    .describe("Top-level fields of the caller's payload override these."),
  run_as: EnvelopeChange.shape.run_as.describe("Overrides the `run_as` of the workflow."),
  verify: Verify.nullish().describe("For senders that sign their deliveries instead of sending the trigger's secret."),
  headers: z
    .array(HeaderName.refine((name) => !holdsCredential(name), "may not be a header with a credential"))
    .max(MAX_HEADERS)
    .nullish()
    .describe("Names of request headers that `run()` receives as `ctx.headers`."),
  event: z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(200)
    .nullish()
    .describe("A call sends an event of this name to the runs that wait for it, instead of starting a run."),
  schedule: ScheduleInput.nullish().describe(
    "Makes the trigger a schedule, which starts runs by itself and has no hook.",
  ),
  paused: z
    .literal(false, "must be left out: a new schedule is active, and a PATCH pauses it")
    .nullish()
    .describe("A new schedule is active; a PATCH pauses it."),
  ...scheduleFields,
});
const WEBHOOK_ONLY = {
  verify: "leave it out",
  headers: "leave it out",
  event: "leave it out",
  default_args: "use args",
} as const;
/** Fields of triggers that start runs; a trigger with `event` cannot have them. */
const RUN_ONLY = ["run_as", "headers"] as const;

export const CreateTriggerBody = Fields.superRefine((body, context) => {
  const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
  const isGiven = (field: string) => (body as Record<string, unknown>)[field] != null;
  if (body.schedule) {
    for (const [field, way] of Object.entries(WEBHOOK_ONLY))
      if (isGiven(field)) refuse(field, `belongs to webhooks, and a schedule has no caller: ${way}`);
    return;
  }
  if (isGiven("event"))
    for (const field of RUN_ONLY)
      if (isGiven(field)) refuse(field, "belongs to triggers that start runs; one with event starts none");
  for (const field of Object.keys(scheduleFields))
    if (isGiven(field)) refuse(field, "belongs to a trigger with schedule");
});
/** A body replaces the sender's signing secret; without a body, the trigger's own secret is rotated. */
export const RotateTriggerBody = z.object({ verify: z.object({ secret: SigningSecret }).nullish() }).nullish();

export const Trigger = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    kind: z.enum(["webhook", "schedule"]),
    name: z.string(),
    hook_token: z.string().nullable().describe("Null for a schedule, as are the address and the hint."),
    hook_url: z.string().nullable(),
    secret_hint: z.string().nullable().describe("The last four characters of the secret."),
    default_args: z.record(z.string(), z.unknown()),
    run_as: RunAs.nullable(),
    verify: z
      .discriminatedUnion("scheme", [ProviderVerification, HmacVerification])
      .nullable()
      .describe("How the sender signs; null: it sends the trigger's secret."),
    headers: z.array(z.string()),
    event: z.string().nullable().describe("The name of the event that a call sends; null: it starts a run."),
    enabled: z.boolean(),
    runs: z.int(),
    last_used_at: z.iso.datetime().nullable().describe("When it last started a run."),
    created_at: z.iso.datetime(),
    rotated_at: z.iso.datetime().nullable(),
    set_by: z
      .string()
      .describe(
        "`person:<id>`: who created the trigger or last changed what starts its runs, and counts as who started them.",
      ),
    ...Schedule.shape,
  })
  .meta({ title: "Trigger" });
export const TriggerWithSecret = Trigger.extend({
  secret: z.string().optional().describe("Shown once: a repeated request is answered without it."),
}).meta({ title: "TriggerWithSecret" });

interface Context {
  runs: number;
  /** Public address of the service, because the Host header is not trusted. */
  base: string;
  /** The schedule, if the trigger is one. */
  schedule: ScheduleRow | undefined;
}

export const presentTrigger = (row: TriggerRow, { runs, base, schedule }: Context): z.infer<typeof Trigger> => ({
  id: row.id,
  workflow_id: row.workflow_id,
  kind: row.hook_token === null ? "schedule" : "webhook",
  name: row.name,
  hook_token: row.hook_token,
  hook_url: row.hook_token === null ? null : `${base}/api/workflows/hooks/${row.hook_token}`,
  secret_hint: row.secret_hint,
  default_args: row.hook_token === null ? {} : (JSON.parse(row.default_args) as Record<string, unknown>),
  run_as: row.run_as,
  verify: row.verify,
  headers: row.headers,
  event: row.event,
  enabled: row.enabled,
  runs,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  rotated_at: row.rotated_at?.toISOString() ?? null,
  set_by: row.set_by,
  ...(schedule ? presentSchedule(schedule, row.default_args) : NO_SCHEDULE),
});
