import { z } from "zod";
import { EnvelopeChange, type Envelope, type RunAs } from "#events/workflow.ts";
import type { Caller } from "../auth/caller.ts";
import { ApiError } from "../errors.ts";
import type { FieldCodes } from "../validate.ts";

export const ENVELOPE_CODES: FieldCodes = [
  [/^(envelope\.)?run_as/, "invalid_run_as"],
  [/^envelope/, "invalid_envelope"],
];

/** Every rule back to its default. */
export const ALL_DEFAULTS: EnvelopeChange = Object.fromEntries(
  Object.keys(EnvelopeChange.shape).map((name) => [name, null]),
);

/**
 * Runs act for the service, or for a person, who has to accept that: the one who asks for it, or the one who stands there already.
 * Throws 400 `invalid_run_as`.
 */
export function checkRunAs(
  { session }: Pick<Caller, "session">,
  asked: RunAs | null | undefined,
  param: string,
  before?: RunAs | null,
): void {
  if (!asked) return;
  const refuse = (why: string) => new ApiError("invalid_run_as", `${param}.id: ${why}`, { param: `${param}.id` });
  if (asked.type === "service") {
    if (asked.id !== null) throw refuse("the service has none.");
    return;
  }
  if (asked.id === null) throw refuse("is required for a person.");
  const accepted = [session?.user_id, before?.type === "person" ? before.id : undefined];
  if (!accepted.includes(asked.id.toLowerCase())) throw refuse("name yourself: nobody else has accepted this.");
}

export const Warning = z.object({ code: z.literal("secret_not_allowed"), message: z.string(), param: z.string() });

/** What will fail at the step that asks for it. */
export const warningsOf = (asked: string[], { secrets }: Envelope): z.infer<typeof Warning>[] =>
  asked
    .filter((name) => !secrets.includes(name))
    .map((name) => ({
      code: "secret_not_allowed",
      message: `The definition asks for the secret ${name}, which envelope.secrets does not allow: a step that reads it fails.`,
      param: "envelope.secrets",
    }));
