import type { Approval } from "../../api/types.ts";
import type { Member } from "../../api/members.ts";

type Names = Pick<Member, "id" | "email" | "name" | "active" | "role">[];

const LIST = new Intl.ListFormat("en", { type: "disjunction" });

/** An assignee names a person by id or by e-mail address. */
const memberOf = (members: Names, person: string) =>
  members.find(({ id, email }) => id === person || email.toLowerCase() === person.toLowerCase());

/** The possible deciders that an approval names. A delegation replaces the delegating person by the delegate. */
export function nameDeciders(
  { assignees, delegations }: Pick<Approval, "assignees" | "delegations">,
  members: Names,
): string | undefined {
  // a delegation to a person who has left or may no longer decide does not count
  const counted = delegations.filter(({ to }) =>
    members.some(({ id, active, role }) => id === to.id && active && role !== "viewer"),
  );
  const isOut = (id: string | undefined): boolean =>
    counted.findLast(({ by, to }) => by.id === id || to.id === id)?.by.id === id && id !== undefined;
  const named = assignees.flatMap((one) => {
    if ("group" in one) return [`the group ${one.group}`];
    if ("role" in one) return [`${one.role}s`];
    const member = memberOf(members, one.person);
    return isOut(member?.id ?? one.person) ? [] : [member?.name ?? one.person];
  });
  const delegates = counted.flatMap(({ to }) => (isOut(to.id) ? [] : [to.name ?? to.id]));
  const names = [...new Set([...named, ...delegates])];
  return names.length > 0 ? LIST.format(names) : undefined;
}
