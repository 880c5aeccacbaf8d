import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "./canonicalJson.ts";
import { currentTime } from "./clock.ts";
import type { Actor } from "./runOrigin.ts";
import type { Envelope, Priority, RunAs } from "./workflow.ts";

/* Shared by every start of a run, over HTTP or by a schedule. */

/** The fields of a workflow that a start needs. */
export interface StartableWorkflow {
  id: string;
  organization_id: string;
  project_id: string | null;
  definition_id: string;
  definition_version: number;
  enabled: boolean;
  envelope: Envelope;
}

/** Attempts to claim a concurrency slot and a start. An attempt fails only if another run takes the same one meanwhile. */
export const MAX_SLOT_ATTEMPTS = 8;

/** The settings of a run that starts now. The rules of the envelope are copied, so later changes of it do not affect the run. */
export function runSettings(
  workflow: StartableWorkflow,
  start: {
    run_id: string;
    trigger_id: string | null;
    started_by: Actor;
    trigger_set_by?: Actor;
    run_as: RunAs;
    /** Overrides the envelope's priority; it can only be lower. */
    priority?: Priority | undefined;
  },
) {
  const { limits, retention_days, approvals } = workflow.envelope;
  const { run_id, trigger_id, started_by, trigger_set_by, run_as } = start;
  const priority = start.priority ?? workflow.envelope.priority ?? "normal";
  return {
    run_id,
    workflow_id: workflow.id,
    definition_id: workflow.definition_id,
    definition_version: workflow.definition_version,
    project_id: workflow.project_id,
    trigger_id,
    started_by,
    ...(trigger_set_by && { trigger_set_by }),
    run_as,
    ...(priority !== "normal" && { priority }),
    limits,
    expires_at: new Date(currentTime() + limits.run_ttl_s * 1000).toISOString(),
    retention_days,
    approvals,
  };
}

/** The value at a JSON pointer, if there is one. */
function valueAt(value: unknown, pointer: string): unknown {
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The value of the argument that a limit is keyed by. A pointer starts at the arguments, or at the body of the start (`/args/customer`). */
function readKey(args: Record<string, unknown>, pointer: string | null): unknown {
  if (pointer === null) return undefined;
  return valueAt(/^\/args(\/|$)/.test(pointer) ? { args } : args, pointer);
}

/** Characters of a key value above which its digest stands for it: the value is hashed once more for each of up to 1,000 places. */
const MAX_KEY_LENGTH = 1_000;

/** The value that a limit is keyed by, as text. It is the same in every order of the properties, which a caller chooses freely. */
function keyText(args: Record<string, unknown>, pointer: string | null): string {
  const text = canonicalJson((readKey(args, pointer) ?? null) as Json);
  // no JSON starts like this, so no short value has the same text
  return text.length > MAX_KEY_LENGTH ? `sha256:${createHash("sha256").update(text).digest("hex")}` : text;
}

/** Names of all concurrency slots of a workflow for these arguments. They are keyed hashes, so the argument stays secret. */
export function slotNames(
  keyedHash: (purpose: string, text: string) => string,
  { id, organization_id }: Pick<StartableWorkflow, "id" | "organization_id">,
  { max_runs, key }: NonNullable<Envelope["concurrency"]>,
  args: Record<string, unknown>,
): string[] {
  const group = `["${organization_id}","${id}",${keyText(args, key)}]`;
  return Array.from({ length: max_runs }, (_, n) => keyedHash("run-slot", `${group}${n}`));
}

/** The claim that a live run holds on its slot. */
export const slotClaim = (slot: string): string => `run-slot:${slot}`;

type StartRate = NonNullable<Envelope["start_rate"]>;

/** Names of all starts that the rate allows for these arguments in the period that contains `now`. Periods count from 1970. */
export function nameAllowedStarts(
  keyedHash: (purpose: string, text: string) => string,
  { id, organization_id }: Pick<StartableWorkflow, "id" | "organization_id">,
  { max_runs, per_seconds, key }: StartRate,
  args: Record<string, unknown>,
  now: number,
): string[] {
  const period = Math.floor(now / (per_seconds * 1_000));
  const group = `["${organization_id}","${id}",${keyText(args, key)},${per_seconds},${period}]`;
  return Array.from({ length: max_runs }, (_, n) => keyedHash("run-start", `${group}${n}`));
}

/** The claim name of one start. */
export const startClaim = (place: string): string => `run-start:${place}`;

/** Milliseconds until the next period. */
export const untilNextPeriod = ({ per_seconds }: StartRate, now: number): number =>
  per_seconds * 1_000 - (now % (per_seconds * 1_000));

/* Messages of refused starts, for API clients and for schedules. */

export const WORKFLOW_DISABLED = "The workflow is disabled; it can start no runs until it is enabled.";
export const tooManyRuns = ({ max_runs }: { max_runs: number }): string =>
  `The workflow already has ${max_runs} live runs, the maximum that its envelope allows.`;
export const tooManyStarts = ({ max_runs, per_seconds, key }: StartRate): string =>
  `${max_runs} runs have started in this period of ${per_seconds} s${key === null ? "" : ` with this value of ${key}`}, as envelope.start_rate allows.`;
