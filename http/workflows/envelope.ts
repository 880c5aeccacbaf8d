import { z } from "zod";
import { EnvelopeChange, type Envelope, type RunAs } from "#events/workflow.ts";
import type { Caller } from "../base/caller.ts";
import { ApiError } from "../base/errors.ts";
import type { FieldCodes } from "../base/validate.ts";

export const ENVELOPE_CODES: FieldCodes = [
  [/^(envelope\.)?run_as/, "invalid_run_as"],
  [/^envelope/, "invalid_envelope"],
];

/** A change that resets every rule. */
export const RESET_ENVELOPE: EnvelopeChange = Object.fromEntries(
  Object.keys(EnvelopeChange.shape).map((name) => [name, null]),
);

/**
 * Checks on whose behalf runs act: the service or a person. The person must have agreed, so callers may name themselves, or keep
 * the person in `before`. Throws 400 `invalid_run_as`.
 */
export function checkRunAs(
  { session }: Pick<Caller, "session">,
  runAs: RunAs | null | undefined,
  param: string,
  before?: RunAs | null,
): void {
  if (!runAs) return;
  const refuse = (why: string) => new ApiError("invalid_run_as", `${param}.id: ${why}`, { param: `${param}.id` });
  if (runAs.type === "service") {
    if (runAs.id !== null) throw refuse("must be null for the service.");
    return;
  }
  if (runAs.id === null) throw refuse("is required for a person.");
  const allowed = [session?.user_id, before?.type === "person" ? before.id : undefined];
  if (!allowed.includes(runAs.id.toLowerCase())) throw refuse("must be your own id: you can name only yourself.");
}

/**
 * Refuses other code for runs that act for somebody else, because that person has agreed to what the present code does with their
 * rights, such as reading documents that name them. `people`: for whom the runs act. Throws 400 `invalid_run_as`.
 */
export function checkCodeChange({ session }: Pick<Caller, "session">, people: (RunAs | null | undefined)[]): void {
  const isOther = (runAs: RunAs | null | undefined) =>
    runAs?.type === "person" && runAs.id?.toLowerCase() !== session?.user_id;
  if (!people.some(isOther)) return;
  throw new ApiError(
    "invalid_run_as",
    "definition_version: runs act for another person, who must choose their code. Or first let them act for the service or for you: in envelope.run_as, and by replacing triggers that name that person.",
    { param: "definition_version" },
  );
}

export const Warning = z.object({ code: z.literal("secret_not_allowed"), message: z.string(), param: z.string() });

/** Warns of secrets that the definition reads but the envelope does not allow. Steps that read them will fail. */
export const findWarnings = (secretsRead: string[], { secrets }: Envelope): z.infer<typeof Warning>[] =>
  secretsRead
    .filter((name) => !secrets.includes(name))
    .map((name) => ({
      code: "secret_not_allowed",
      message: `The definition reads the secret ${name}, which envelope.secrets does not allow: a step that reads it fails.`,
      param: "envelope.secrets",
    }));
