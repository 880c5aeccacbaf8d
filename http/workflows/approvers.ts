import { groupsStream } from "#events/group.ts";
import { streamName } from "#events/ids.ts";
import { listGroupsOf } from "#projections/groups/query.ts";
import { votersOf } from "#projections/runs/approvalRows.ts";
import type { ApprovalRow, Approver } from "#projections/runs/approvals.ts";
import { listSubstituted, type SubstitutedPerson } from "#projections/users/substitutes.ts";
import { mayDecide } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";

const notAllowed = (message: string) => new ApiError("approver_not_allowed", message);

type Needs = Pick<Http, "db" | "waitUntilCurrent">;
type Person = Omit<Approver, "groups">;

/** The names of a person's current groups. */
async function findGroupsOf(
  { db, waitUntilCurrent }: Needs,
  organization_id: string,
  user_id: string,
): Promise<string[]> {
  await waitUntilCurrent(["groups"], groupsStream(organization_id));
  return listGroupsOf(db, organization_id, user_id);
}

/** The people whose substitute this person is now, and who may decide themselves. */
async function findSubstituted(http: Needs, organization_id: string, user_id: string): Promise<SubstitutedPerson[]> {
  await http.waitUntilCurrent(["users"], streamName("organization", organization_id));
  await http.waitUntilCurrent(["groups"], groupsStream(organization_id));
  const substituted = await listSubstituted(http.db, organization_id, user_id);
  return substituted.filter(({ role }) => mayDecide(role));
}

/** A person with groups, and the people in whose place the person may decide. */
interface Approvers {
  self: Approver;
  in_place_of: SubstitutedPerson[];
}

export async function findApprovers(http: Needs, organization_id: string, person: Person): Promise<Approvers> {
  const { user_id, email, role } = person;
  const in_place_of = await findSubstituted(http, organization_id, user_id);
  return { self: { user_id, email, role, groups: await findGroupsOf(http, organization_id, user_id) }, in_place_of };
}

/** The reader of an approval and possibly its decider: a person, or an API key by its id. */
export type Reader = Approvers | { key: string };

export const findReader = async (http: Needs, caller: Caller): Promise<Reader> => {
  const { session, principal, organization_id } = caller;
  return session ? findApprovers(http, organization_id, session) : { key: principal.slice("key:".length) };
};

const allowsSelfApproval = ({ self_approval, rules }: ApprovalRow): boolean =>
  self_approval && rules?.self_approval !== false;

/** Whether a person or key caused the approval, and self-approval is not allowed. */
export const isExcluded = (row: ApprovalRow, id: string): boolean => !allowsSelfApproval(row) && row.asked_by.id === id;

/** The refusal if somebody started the request themselves and may not decide it. */
function refuseStarter(row: ApprovalRow, id: string): string | undefined {
  if (!isExcluded(row, id)) return undefined;
  return row.call
    ? "The person or key that asked the agent, or set the trigger of the run that did, may not decide this approval."
    : "The person or key that started the run, or set its trigger, may not decide this approval.";
}

/**
 * The refusal if a key may not decide. Anybody may hold a key, so approvals for certain people accept one only if the envelope
 * allows it.
 */
function refuseKey(row: ApprovalRow): string | undefined {
  const { allow_api_key, assignees, rules } = row;
  if (!allow_api_key || !rules?.allow_api_key) return "An API key may not decide this approval; sign in.";
  if (rules.allow_api_key_when_restricted) return undefined;
  if (assignees.length > 0) return "This approval is assigned to people; an API key may not decide it.";
  if (allowsSelfApproval(row)) return undefined;
  return "The person who asked may not decide this approval, nor may an API key; sign in.";
}

/** Whether the person is assigned: by the last valid delegation from or to the person, else as an assignee. */
function isAssigned({ user_id, email, role, groups }: Approver, { delegations, assignees }: ApprovalRow): boolean {
  const last = delegations.findLast(({ by, to, has_effect }) => has_effect && (by.id === user_id || to.id === user_id));
  if (last) return last.to.id === user_id;
  const names = [user_id, email.toLowerCase()];
  return (
    assignees.length === 0 ||
    assignees.some((assignee) => {
      if ("person" in assignee) return names.includes(assignee.person.toLowerCase());
      if ("group" in assignee) return groups.includes(assignee.group.toLowerCase());
      return assignee.role.toLowerCase() === role;
    })
  );
}

/** The delegates who have left or lost their role. The decider cannot know them, so the command lists them. */
export function absentDelegates({ delegations }: ApprovalRow): { absent?: string[] } {
  const absent = delegations.filter(({ present }) => !present).map(({ to }) => to.id);
  return absent.length > 0 ? { absent: [...new Set(absent)] } : {};
}

/** Whether any person, not only the caller, may decide in their own right. */
export async function isAssignedNow(http: Needs, organization_id: string, person: Person, row: ApprovalRow) {
  const needsGroups = row.assignees.some((assignee) => "group" in assignee);
  const groups = needsGroups ? await findGroupsOf(http, organization_id, person.user_id) : [];
  return isAssigned({ ...person, groups }, row);
}

/**
 * The first person in whose place a substitute may decide or has voted. Skips people who have voted themselves, by a link or through
 * another substitute.
 */
function findReplaced(
  in_place_of: SubstitutedPerson[],
  substitute_id: string,
  row: ApprovalRow,
): SubstitutedPerson | undefined {
  const voters = row.votes.filter(({ by }) => by.id !== substitute_id).flatMap(votersOf);
  return in_place_of.find(
    (one) => !isExcluded(row, one.user_id) && !voters.includes(one.user_id) && isAssigned(one, row),
  );
}

/**
 * Either the reason why somebody may not decide, or the person in whose place they may. `in_place_of` is undefined for people who
 * decide in their own right.
 */
type Right = { refusal: string } | { refusal?: undefined; in_place_of: SubstitutedPerson | undefined };

/** Whether a reader may decide. Uses the current roles, groups, substitutes and rules, not those at the time of the request. */
export function rightOf(reader: Reader, row: ApprovalRow): Right {
  if ("key" in reader) {
    const refusal = refuseStarter(row, reader.key) ?? refuseKey(row);
    return refusal === undefined ? { in_place_of: undefined } : { refusal };
  }
  const { self, in_place_of } = reader;
  const refusal = refuseStarter(row, self.user_id);
  if (refusal !== undefined) return { refusal };
  if (!mayDecide(self.role)) return { refusal: "Your role may not decide approvals; approvers and above may." };
  if (isAssigned(self, row)) return { in_place_of: undefined };
  const replaced = findReplaced(in_place_of, self.user_id, row);
  return replaced ? { in_place_of: replaced } : { refusal: "This approval is assigned to others." };
}

/** Returns the id of the person in whose place a reader may decide, undefined for an own right. Throws 403 `approver_not_allowed`. */
export function requireRight(reader: Reader, row: ApprovalRow): string | undefined {
  const right = rightOf(reader, row);
  if (right.refusal !== undefined) throw notAllowed(right.refusal);
  return right.in_place_of?.user_id;
}

/** Requires an own right to decide; being a substitute is not enough. Throws 403 `approver_not_allowed`. */
export async function checkOwnRight(
  http: Needs,
  organization_id: string,
  person: Person,
  row: ApprovalRow,
): Promise<void> {
  if (requireRight(await findApprovers(http, organization_id, person), row) !== undefined)
    throw notAllowed("A substitute may decide, and may not delegate.");
}
