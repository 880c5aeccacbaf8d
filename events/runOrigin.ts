import { z } from "zod";
import type { Principal } from "./envelope.ts";

/* Where a run comes from. */

/** The person or system that acted on a run. `link`: somebody without an account who was sent a link to an approval. */
export const Actor = z.object({
  type: z.enum(["person", "api_key", "webhook", "schedule", "run", "system", "link"]),
  id: z.string(),
});
export type Actor = z.infer<typeof Actor>;
const MAX_FILES_AT_ONCE = 20;
/** Files (ids) that somebody hands to a run in one request: its steps may read them. */
export const RunFiles = z.array(z.uuid()).max(MAX_FILES_AT_ONCE);
/** Maximum files handed to one run in total: at its start, with decisions and with comments. They are part of its state. */
export const MAX_RUN_FILES = 100;
export const RunStart = z.object({
  started_by: Actor,
  /** A run that continues another one starts with all that was handed to that one. */
  files: z
    .array(z.uuid())
    .max(MAX_RUN_FILES + MAX_FILES_AT_ONCE)
    .optional(),
  /** Absent: normal. */
  priority: z.enum(["low", "high"]).optional(),
  /** The claim on one of the starts that the workflow's rate allows. It is held until the run is destroyed. */
  start_place: z.string().optional(),
  /** The person or key that set the trigger which started the run. */
  trigger_set_by: Actor.optional(),
});
/** The id of the person for whom a substitute decides. */
export const SubstitutedPersonId = z.uuid().optional();

/** A decision, and the files that come with it. */
export const Ballot = z.object({
  decision: z.enum(["approve", "reject"]),
  by: Actor,
  in_place_of: SubstitutedPersonId,
  files: RunFiles.optional(),
});
/** Ids of people to whom an approval was delegated and who are absent when the command is sent. */
export const AbsentDelegates = z.object({ absent: z.array(z.uuid()).optional() });

const ACTORS = { key: "api_key", person: "person", webhook: "webhook", link: "link" } as const;
export function actorOf(principal: Principal): Actor {
  const [kind, id = ""] = principal.split(":", 2);
  return { type: ACTORS[kind as keyof typeof ACTORS] ?? "system", id };
}
/** The principal by which budgets count what an actor starts. */
export const principalOf = ({ type, id }: Actor): string => `${type === "api_key" ? "key" : type}:${id}`;

/** The run whose answers a retry or a fork inherits. */
export const ParentRun = z.object({
  run_id: z.uuid(),
  kind: z.enum(["retry", "fork"]),
  /** The name of the first step that is executed again; null if the parent did not fail in a step. */
  step: z.string().nullable(),
  by: Actor,
  /** The id and creation time that `run()` sees: those of its oldest ancestor, so that equal calls keep their keys. */
  seen_as: z.object({ run_id: z.uuid(), created_at: z.iso.datetime() }),
  /** The run that the idempotency keys of steps derive from. */
  effects_of: z.uuid(),
  /** Number of inherited steps, which count towards the limit of steps. */
  steps: z.int().nonnegative(),
});
export type ParentRun = z.infer<typeof ParentRun>;

/** The run that this one continues (`continueAs`), and the first run of the chain. `nth`: 2 for the second run of the chain. */
export const ContinuedRun = z.object({ run_id: z.uuid(), first_run_id: z.uuid(), nth: z.int().min(2) });
export type ContinuedRun = z.infer<typeof ContinuedRun>;

/** The run that started this one. `by`: who is behind the first run of the chain; `depth`: the number of runs above this one. */
export const StarterRun = z.object({ run_id: z.uuid(), depth: z.int().positive(), by: Actor });
export type StarterRun = z.infer<typeof StarterRun>;

/** Who is behind a run, and may not decide its approvals if `self_approval` is false (ADR 65). Undefined for runs of older releases. */
export const askerOf = (run: z.infer<typeof RunStart> & { starter?: StarterRun }): Actor =>
  run.starter?.by ?? run.trigger_set_by ?? run.started_by;
/** The key or person charged for the turns of a run; the service itself if neither is behind it. */
export function payerOf({ type, id }: Actor): Principal {
  if (type === "api_key") return `key:${id}`;
  return type === "person" ? `person:${id}` : "system";
}
/** The person or key that a principal names; undefined for the service itself. */
export const findActor = (principal: Principal): Actor | undefined =>
  principal === "system" ? undefined : actorOf(principal);
