import type { Envelope } from "../../api/envelope.ts";
import { formLines, formText } from "../../parts/formText.ts";
import { readDays, readSpan } from "../../parts/SpanField.tsx";

/** The numeric limits of a run, with their largest values. */
export const RUN_LIMITS = {
  max_steps: { label: "Steps", most: 10_000 },
  max_parallel: { label: "Steps at the same time", most: 50 },
  max_result_bytes: { label: "Bytes of a result", most: 1_048_576 },
} as const;
/** The same for durations. */
export const RUN_TIMES = { run_ttl_s: "A run expires after", step_timeout_s: "An attempt may take" } as const;
export const LIMIT_NAMES = Object.keys(RUN_LIMITS) as (keyof typeof RUN_LIMITS)[];
export const TIME_NAMES = Object.keys(RUN_TIMES) as (keyof typeof RUN_TIMES)[];
export const KEPT_FOR_LABEL = "Keep a run for";
export const EXPIRES_AFTER_LABEL = "One that says nothing else expires after";
export const RATE_PERIOD_LABEL = "Length of the period";

/** Lists entered as text, one name per line. */
export const NAME_LISTS = {
  secrets: { label: "Secrets that steps may read", hint: "Names, one in a line." },
  egress: { label: "Hosts that steps may fetch from", hint: "One in a line; *.example.com for all below it." },
  tools: { label: "Tools", hint: "Names, one in a line; * for all." },
  models: { label: "Models", hint: "provider/model, one in a line; * for all." },
  collections: { label: "Collections", hint: "Slugs, one in a line; * for all." },
  writable_collections: { label: "Collections that steps may write to", hint: "Slugs, one in a line; * for all." },
} as const;
/** The order in which waiting ticks and steps get a free place. */
export const PRIORITIES = ["high", "normal", "low"] as const;
export const LIST_NAMES = Object.keys(NAME_LISTS) as (keyof typeof NAME_LISTS)[];

/** A required duration. */
const readSeconds = (form: FormData, name: string, label: string): number => readSpan(form, name, label) ?? 0;
const readNumber = (form: FormData, name: string): number => Number(formText(form, name));
/** The selected ids, or `*`. */
const readIds = (form: FormData, name: string): string[] =>
  formText(form, `${name}_mode`) === "all"
    ? ["*"]
    : form.getAll(name).filter((value): value is string => typeof value === "string");

function readConcurrency(form: FormData): Envelope["concurrency"] {
  const most = formText(form, "concurrency.max_runs").trim();
  return most === "" ? null : { max_runs: Number(most), key: formText(form, "concurrency.key").trim() || null };
}

function readStartRate(form: FormData): Envelope["start_rate"] {
  const most = formText(form, "start_rate.max_runs").trim();
  const per_seconds = readSeconds(form, "start_rate.per_seconds", RATE_PERIOD_LABEL);
  return most === ""
    ? null
    : { max_runs: Number(most), per_seconds, key: formText(form, "start_rate.key").trim() || null };
}

/** The entered rules, without the person for whom the runs act. */
export const readEnvelope = (form: FormData): Envelope => ({
  secrets: formLines(form, "secrets"),
  egress: formLines(form, "egress"),
  tools: formLines(form, "tools"),
  models: formLines(form, "models"),
  collections: formLines(form, "collections"),
  writable_collections: formLines(form, "writable_collections"),
  agents: readIds(form, "agents"),
  workflows: readIds(form, "workflows"),
  limits: Object.fromEntries([
    ...LIMIT_NAMES.map((name) => [name, readNumber(form, name)]),
    ...TIME_NAMES.map((name) => [name, readSeconds(form, name, RUN_TIMES[name])]),
  ]) as Envelope["limits"],
  concurrency: readConcurrency(form),
  start_rate: readStartRate(form),
  priority: PRIORITIES.find((one) => one === formText(form, "priority")) ?? "normal",
  approvals: {
    default_expiry_s: readSeconds(form, "default_expiry_s", EXPIRES_AFTER_LABEL),
    allow_api_key: form.has("allow_api_key"),
    allow_api_key_when_restricted: form.has("allow_api_key_when_restricted"),
    self_approval: form.has("self_approval"),
  },
  retention_days: readDays(form, "retention_days", KEPT_FOR_LABEL) ?? 0,
});
