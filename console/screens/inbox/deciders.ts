import type { Approval } from "../../api/types.ts";
import type { Member } from "../../api/members.ts";

type Names = Pick<Member, "id" | "email" | "name">[];

const LIST = new Intl.ListFormat("en", { type: "disjunction" });

/** An assignee names a person by id or by e-mail address. */
const memberOf = (members: Names, person: string) =>
  members.find(({ id, email }) => id === person || email.toLowerCase() === person.toLowerCase());

/** The possible deciders that an approval names. A delegation replaces the delegating person by the delegate. */
export function nameDeciders(
  approval: Pick<Approval, "assignees" | "delegations">,
  members: Names,
): string | undefined {
  const effective = approval.delegations.filter(({ has_effect }) => has_effect);
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
