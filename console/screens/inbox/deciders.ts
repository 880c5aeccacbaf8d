import type { Approval } from "../../api/types.ts";
import type { Member } from "../../api/members.ts";

type Names = Pick<Member, "id" | "email" | "name" | "active" | "role">[];
type Delegation = Approval["delegations"][number];

const LIST = new Intl.ListFormat("en", { type: "disjunction" });

/** An assignee names a person by id or by e-mail address. */
const memberOf = (members: Names, person: string) =>
  members.find(({ id, email }) => id === person || email.toLowerCase() === person.toLowerCase());

/** The delegations that have an effect, in order. The service decides by the same rules. */
function findEffective({ delegations, votes }: Pick<Approval, "delegations" | "votes">, members: Names): Delegation[] {
  const mayDecide = (person: string): boolean =>
    members.some(({ id, active, role }) => id === person && active && role !== "viewer");
  const hasVoted = (person: string): boolean =>
    votes.some(({ by, in_place_of }) => by.id === person || in_place_of?.id === person);
  // a vote in place of somebody is that person's
  const isOwnVoteCast = (person: string): boolean =>
    votes.some(({ by, in_place_of }) => (in_place_of ?? by).id === person);
  // while the delegate may not decide, the person who delegated may vote or delegate again, which ends the delegation
  const hasEnded = ({ by }: Delegation, later: Delegation[]): boolean => {
    const next = later.find((one) => one.by.id === by.id || one.to.id === by.id);
    return next ? next.by.id === by.id : isOwnVoteCast(by.id);
  };
  // once the delegate gets another delegation, theirs are about that one
  const isPassedOn = ({ to }: Delegation, later: Delegation[]): boolean => {
    const received = later.findIndex((one) => one.to.id === to.id);
    const own = received === -1 ? later : later.slice(0, received);
    return own.some((one, n) => one.by.id === to.id && hasEffect(one, later.slice(n + 1)));
  };
  function hasEffect(one: Delegation, later: Delegation[]): boolean {
    if (hasVoted(one.to.id) || isPassedOn(one, later)) return true;
    return mayDecide(one.to.id) && !hasEnded(one, later);
  }
  return delegations.filter((one, n) => hasEffect(one, delegations.slice(n + 1)));
}

/** The possible deciders that an approval names. A delegation replaces the delegating person by the delegate. */
export function nameDeciders(
  approval: Pick<Approval, "assignees" | "delegations" | "votes">,
  members: Names,
): string | undefined {
  const effective = findEffective(approval, members);
  const isOut = (id: string | undefined): boolean =>
    effective.findLast(({ by, to }) => by.id === id || to.id === id)?.by.id === id && id !== undefined;
  const named = approval.assignees.flatMap((one) => {
    if ("group" in one) return [`the group ${one.group}`];
    if ("role" in one) return [`${one.role}s`];
    const member = memberOf(members, one.person);
    return isOut(member?.id ?? one.person) ? [] : [member?.name ?? one.person];
  });
  const delegates = effective.flatMap(({ to }) => (isOut(to.id) ? [] : [to.name ?? to.id]));
  const names = [...new Set([...named, ...delegates])];
  return names.length > 0 ? LIST.format(names) : undefined;
}
