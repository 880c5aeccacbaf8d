import { GroupConfigured, groupsStream } from "#events/group.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { group, type GroupState } from "../deciders/group.ts";
import { findMember, type Members } from "../deciders/members.ts";
import { organization } from "../deciders/organization.ts";
import { findHead, findState, readState } from "../states.ts";
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

/** Why nobody, or too few people, could decide. */
function refuse(call: ApprovalCall, groups: Map<string, string[]>, members: Members): string | undefined {
  const people = new Set<string>();
  for (const [what, list] of Object.entries({
    assignees: call.options.assignees,
    "escalate.to": call.options.escalate?.to,
  }))
    for (const one of list ?? []) {
      if ("person" in one) people.add(one.person.toLowerCase());
      if (!isGroup(one)) continue;
      const ids = groups.get(groupName(one));
      if (!ids) return `awaitApproval: ${what}: the group ${one.group} does not exist.`;
      const active = ids.filter((id) => findMember(members, id)?.active);
      if (active.length === 0) return `awaitApproval: ${what}: the group ${one.group} has no members.`;
      for (const id of active) people.add(id);
    }
  const required = call.options.votes?.required ?? 1;
  // role members are not counted, because roles change more often than groups
  const isCounted = askedBy(call).every((one) => !("role" in one));
  return isCounted && askedBy(call).length > 0 && people.size < required
    ? `awaitApproval: required is ${required}, but only ${people.size} ${people.size === 1 ? "person is" : "people are"} asked.`
    : undefined;
}

/**
 * The first approval that names a missing or empty group, or has fewer assignees than required votes. Otherwise it would silently
 * wait forever. Groups may still change later, even while it is pending.
 */
export async function findRefusedAssignee(
  log: Log,
  organization_id: string,
  calls: ApprovalCall[],
): Promise<RefusedApproval | undefined> {
  const checked = calls.filter((call) => call.options.votes || askedBy(call).some(isGroup));
  if (checked.length === 0) return undefined;
  const names = new Set(checked.flatMap((call) => askedBy(call).filter(isGroup).map(groupName)));
  const [groups, members] = await Promise.all([
    readGroups(log, organization_id, names),
    readMembers(log, organization_id),
  ]);
  for (const call of checked) {
    const message = refuse(call, groups, members);
    if (message !== undefined) return { key: call.key, message };
  }
  return undefined;
}
