import { GroupConfigured, groupsStream } from "#events/group.ts";
import { isUuid, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { askerOf, type Actor } from "#events/runOrigin.ts";
import { APPROVERS } from "#events/user.ts";
import type { Keyring } from "#events/vault.ts";
import { group, type GroupState } from "../deciders/group.ts";
import { findMember, type Members } from "../deciders/members.ts";
import { organization } from "../deciders/organization.ts";
import { workflow } from "../deciders/workflow.ts";
import { findHead, findState, readState } from "../states.ts";
import type { History } from "./history.ts";
import type { ApprovalCall, RefusedApproval } from "./newApprovals.ts";

type Log = Pick<EventLog, "heads" | "read" | "readNewest">;
type RunCreation = History["created"];
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

/** Why too few of the people who are asked could decide. Somebody who is no member yet may become one. */
function refuseNumber(
  { options }: ApprovalCall,
  asked: Set<string>,
  { members, asker }: { members: Members; asker: Actor },
): string | undefined {
  const required = options.votes?.required ?? 1;
  if (asked.size < required)
    return `required is ${required}, but only ${asked.size} ${asked.size === 1 ? "person is" : "people are"} asked.`;
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

/** The people who are asked, by id if they are members, or why a group cannot be asked. */
function findAsked(
  call: ApprovalCall,
  groups: Map<string, string[]>,
  { members, idOf }: People,
): Set<string> | { refusal: string } {
  const people = new Set<string>();
  for (const [what, list] of Object.entries({
    assignees: call.options.assignees,
    "escalate.to": call.options.escalate?.to,
  }))
    for (const one of list ?? []) {
      if ("person" in one) people.add(idOf(one.person));
      if (!isGroup(one)) continue;
      const ids = groups.get(groupName(one));
      if (!ids) return { refusal: `${what}: the group ${one.group} does not exist.` };
      const active = ids.filter((id) => findMember(members, id)?.active);
      if (active.length === 0) return { refusal: `${what}: the group ${one.group} has no members.` };
      for (const id of active) people.add(id);
    }
  return people;
}

/** Whether API keys may decide an approval for people, by the rules that apply now. Each key has a vote. */
async function mayKeysDecide(
  log: Log,
  { options }: ApprovalCall,
  { approvals, workflow_id }: RunCreation,
): Promise<boolean> {
  if (!options.api_key_may_decide || !approvals.allow_api_key) return false;
  const state = await findState(log, streamName("workflow", workflow_id), workflow);
  if (state.status === "absent") return false;
  const { allow_api_key, allow_api_key_when_restricted = false } = state.envelope.approvals;
  return allow_api_key && allow_api_key_when_restricted;
}

/** Why nobody, or too few people, could decide. */
async function refuse(
  log: Log,
  call: ApprovalCall,
  { groups, people, created }: { groups: Map<string, string[]>; people: People; created: RunCreation },
): Promise<string | undefined> {
  const asked = findAsked(call, groups, people);
  if ("refusal" in asked) return asked.refusal;
  // role members are not counted, because roles change more often than groups
  const isCounted = askedBy(call).length > 0 && askedBy(call).every((one) => !("role" in one));
  const asker = askerOf(created);
  const refusal = isCounted ? refuseNumber(call, asked, { members: people.members, asker }) : undefined;
  return refusal !== undefined && (await mayKeysDecide(log, call, created)) ? undefined : refusal;
}

/**
 * The first approval that names a missing or empty group, or has fewer assignees who may decide than required votes. Otherwise it
 * would silently wait forever. Groups may still change later, even while it is pending.
 */
export async function findRefusedAssignee(
  { log, keyring }: { log: Log; keyring: Pick<Keyring, "keyedHash"> },
  { organization_id, created }: { organization_id: string; created: RunCreation },
  calls: ApprovalCall[],
): Promise<RefusedApproval | undefined> {
  const checked = calls.filter((call) => call.options.votes || askedBy(call).some(isGroup));
  if (checked.length === 0) return undefined;
  const names = new Set(checked.flatMap((call) => askedBy(call).filter(isGroup).map(groupName)));
  const [groups, members] = await Promise.all([
    readGroups(log, organization_id, names),
    readMembers(log, organization_id),
  ]);
  const people = openPeople(members, keyring);
  for (const call of checked) {
    const refusal = await refuse(log, call, { groups, people, created });
    if (refusal !== undefined) return { key: call.key, message: `awaitApproval: ${refusal}` };
  }
  return undefined;
}
