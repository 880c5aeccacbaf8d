import { withFormDefaults } from "#events/formDefaults.ts";
import { CliError } from "../cliError.ts";
import type { ApprovalAnswer, GivenVote } from "./answers.ts";
import { LOCAL_ORGANIZATION, type LocalSandbox } from "./loadScript.ts";
import type { ApprovalCall } from "./localCalls.ts";

type Schemas = Pick<LocalSandbox["schemas"], "check">;

/** A vote with its data as a service takes it: with the defaults of the form. Throws CliError if the data does not fit. */
async function fillForm<Vote extends GivenVote>(
  schemas: Schemas,
  { name, options: { form } }: ApprovalCall,
  vote: Vote,
): Promise<Vote> {
  const isApproved = vote.decision === "approve";
  const data = isApproved ? withFormDefaults(form, vote.data) : vote.data;
  if (form === null || (!isApproved && data === null)) return { ...vote, data };
  const violation = await schemas.check(LOCAL_ORGANIZATION, form, data ?? {});
  if (!violation) return { ...vote, data };
  const { pointer, message } = violation;
  throw new CliError(
    `The data of the approval ${name} does not fit its form: data${pointer}: ${message}`,
    "correct it",
  );
}

const isDecided = (given: ApprovalAnswer): given is ApprovalAnswer & Pick<GivenVote, "decision"> =>
  given.decision === "approve" || given.decision === "reject";

/** The answer of an approval with filled forms. Throws CliError if data does not fit, which a service would refuse. */
export async function fillForms(schemas: Schemas, call: ApprovalCall, given: ApprovalAnswer): Promise<ApprovalAnswer> {
  const votes = call.options.votes && given.votes;
  if (votes) return { ...given, votes: await Promise.all(votes.map((vote) => fillForm(schemas, call, vote))) };
  return isDecided(given) ? fillForm(schemas, call, given) : given;
}
