import { GroupConfigured, groupsStream } from "#events/group.ts";
import { isUuid, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { askerOf, type Actor } from "#events/runOrigin.ts";
import { APPROVERS } from "#events/user.ts";
import type { Keyring } from "#events/vault.ts";
import type { Envelope } from "#events/workflow.ts";
import { group, type GroupState } from "../deciders/group.ts";
import { findMember, type Members } from "../deciders/members.ts";
import { organization } from "../deciders/organization.ts";
import { workflow } from "../deciders/workflow.ts";
import { findHead, findState, readState } from "../states.ts";
import type { History } from "./history.ts";
import type { ApprovalCall, RefusedApproval } from "./newApprovals.ts";

type Log = Pick<EventLog, "heads" | "read" | "readNewest">;
type Assignee = ApprovalCall["options"]["assignees"][number];

/** Page size of the search for the newest settings of a group. */
const PAGE = { limit: 100, bytes: 1_000_000 };

const groupName = ({ group: name }: { group: string }): string => name.toLowerCase();
const isGroup = (one: Assignee): one is { group: string } => "group" in one;
const askedBy = ({ options }: ApprovalCall): Assignee[] => [...options.assignees, ...(options.escalate?.to ?? [])];

async function readMembers(log: Log, organization_id: string): Promise<Members> {
  const stream = streamName("organization", organization_id);
  const state = await findState(log, stream, organization);
  return state.status === "active" ? state.members : {};
}

/** The current rules of a workflow for approvals, which apply when an approval is decided. */
async function readRules(log: Log, workflow_id: string): Promise<Envelope["approvals"] | undefined> {
  const state = await findState(log, streamName("workflow", workflow_id), workflow);
  return state.status === "registered" ? state.envelope.approvals : undefined;
}

/** Member ids by group name; groups that do not exist are missing. */
async function readGroups(log: Log, organization_id: string, names: Set<string>): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (names.size === 0) return found;
  const stream = groupsStream(organization_id);
  const head = await findHead(log, stream);
  if (!head) return found;
  const { names: existing }: GroupState = (await readState(log, head, group)).state;
  const missing = new Set(existing.filter((name) => names.has(name)));
  // the decider's state has no members, because an organization's groups could make it large
  for (let before = head.version + 1; missing.size > 0 && before > 1; ) {
    const events = await log.readNewest(stream, { before, types: [GroupConfigured.type], ...PAGE });
    for (const { data } of events.toReversed()) {
      const { group: name, members } = data as { group: string; members: string[] };
      if (missing.delete(name)) found.set(name, members);
    }
    before = events[0]?.version ?? 0;
  }
  return found;
}

/** An organization's people, as assignees name them. */
interface People {
  members: Members;
  /** The id for the id or the e-mail address of a member; anything else stays as it is. */
  idOf(person: string): string;
}

function openPeople(members: Members, { keyedHash }: Pick<Keyring, "keyedHash">): People {
  const byClaim = new Map(Object.entries(members).map(([id, { email_claim }]) => [email_claim, id]));
  return {
    members,
    idOf(person) {
      const name = person.toLowerCase();
      return isUuid(name) ? name : (byClaim.get(keyedHash("email", name)) ?? name);
    },
  };
}

/** What decides who may vote besides the members. `rules`: undefined if the workflow cannot be read. */
interface VoteRules {
  asker: Actor;
  rules: Envelope["approvals"] | undefined;
}

/** Whether API keys may vote, too. Then people may be asked who only read the approval. */
const mayKeysVote = ({ options }: ApprovalCall, rules: VoteRules["rules"]): boolean =>
  options.api_key_may_decide && rules?.allow_api_key === true && rules.allow_api_key_when_restricted === true;

/** Why too few of the people who are asked could decide. Somebody who is no member yet may become one. */
function refuseNumber(
  call: ApprovalCall,
  asked: Set<string>,
  { members, asker, rules }: VoteRules & { members: Members },
): string | undefined {
  const { options } = call;
  const required = options.votes?.required ?? 1;
  if (asked.size < required)
    return `required is ${required}, but only ${asked.size} ${asked.size === 1 ? "person is" : "people are"} asked.`;
  if (mayKeysVote(call, rules)) return undefined;
  const isAble = (id: string): boolean => {
    if (options.self_approval === false && asker.type === "person" && asker.id === id) return false;
    const member = findMember(members, id);
    return !member || (member.active && APPROVERS.includes(member.role));
  };
  const able = [...asked].filter(isAble).length;
  if (able >= required) return undefined;
  return able === 0
    ? "nobody who is asked may decide it."
    : `required is ${required}, but only ${able} of the people who are asked may decide it.`;
}

/** Why nobody, or too few people, could decide. */
function refuse(
  call: ApprovalCall,
  groups: Map<string, string[]>,
  { members, idOf, ...voteRules }: People & VoteRules,
): string | undefined {
  const people = new Set<string>();
  for (const [what, list] of Object.entries({
    assignees: call.options.assignees,
    "escalate.to": call.options.escalate?.to,
  }))
    for (const one of list ?? []) {
      if ("person" in one) people.add(idOf(one.person));
      if (!isGroup(one)) continue;
      const ids = groups.get(groupName(one));
      if (!ids) return `${what}: the group ${one.group} does not exist.`;
      const active = ids.filter((id) => findMember(members, id)?.active);
      if (active.length === 0) return `${what}: the group ${one.group} has no members.`;
      for (const id of active) people.add(id);
    }
  // role members are not counted, because roles change more often than groups
  const isCounted = askedBy(call).length > 0 && askedBy(call).every((one) => !("role" in one));
  return isCounted ? refuseNumber(call, people, { members, ...voteRules }) : undefined;
}

/**
 * The first approval that names a missing or empty group, or has fewer assignees who may decide than required votes. Otherwise it
 * would silently wait forever. Groups may still change later, even while it is pending.
 */
export async function findRefusedAssignee(
  { log, keyring }: { log: Log; keyring: Pick<Keyring, "keyedHash"> },
  { organization_id, created }: Pick<History, "organization_id" | "created">,
  calls: ApprovalCall[],
): Promise<RefusedApproval | undefined> {
  const checked = calls.filter((call) => call.options.votes || askedBy(call).some(isGroup));
  if (checked.length === 0) return undefined;
  const names = new Set(checked.flatMap((call) => askedBy(call).filter(isGroup).map(groupName)));
  const [groups, members, rules] = await Promise.all([
    readGroups(log, organization_id, names),
    readMembers(log, organization_id),
    readRules(log, created.workflow_id),
  ]);
  const people = { ...openPeople(members, keyring), asker: askerOf(created), rules };
  for (const call of checked) {
    const refusal = refuse(call, groups, people);
    if (refusal !== undefined) return { key: call.key, message: `awaitApproval: ${refusal}` };
  }
  return undefined;
}
