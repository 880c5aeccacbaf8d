import { Rejection } from "#events/rejection.ts";
import {
  ADMINS,
  PasswordSet,
  SubstituteNamed,
  SubstituteWithdrawn,
  UserChanged,
  UserRegistered,
  UserRemoved,
  type Role,
  type UserCommand,
  type UserEvent,
} from "#events/user.ts";
import { put, without } from "./records.ts";

/** Maximum members of an organization, inactive ones too: each of its commands reads and writes the state with all of them. */
export const MAX_MEMBERS = 10_000;

interface Member {
  role: Role;
  active: boolean;
  email_claim: string;
  epoch: number;
}
/** By id. */
export type Members = Record<string, Member>;

const forbidden = (message: string) => new Rejection("forbidden", message);
/** Email addresses are unique per organization: a member of another one may have the same address (ADR 22). */
const emailTaken = () =>
  new Rejection("email_taken", "A member of the organization has this email already.", { param: "email" });

const tooManyMembers = () =>
  new Rejection(
    "too_many_members",
    `An organization has at most ${MAX_MEMBERS.toLocaleString("en")} members; remove one first.`,
    { param: "email" },
  );

export const findMember = (members: Members, id: string): Member | undefined =>
  Object.hasOwn(members, id) ? members[id] : undefined;

/** Owners manage everybody, admins everybody except owners. Checks the caller's current role. */
function requirePermission({ principal }: UserCommand, members: Members, roles: (Role | undefined)[]): void {
  if (principal === "system") return;
  const caller = findMember(members, principal.replace(/^person:/, ""));
  if (!caller?.active || !ADMINS.includes(caller.role)) throw forbidden("Only an owner or an admin may do this.");
  if (caller.role !== "owner" && roles.includes("owner"))
    throw forbidden("Only an owner may make, change or remove owners.");
}

/** Without an active owner nobody could manage the organization. */
function requireOwner(members: Members): void {
  if (!Object.values(members).some(({ role, active }) => role === "owner" && active))
    throw new Rejection("last_owner", "An organization keeps at least one active owner.");
}

function change(command: Extract<UserCommand, { type: "ChangeUser" }>, before: Member, members: Members): UserEvent[] {
  const { user_id, name, role = before.role, active = before.active } = command.data;
  requirePermission(command, members, [before.role, role]);
  const isSame = role === before.role && active === before.active;
  if (isSame && name === undefined) return [];
  const epoch = before.epoch + (before.active && !active ? 1 : 0);
  const membership = {
    ...(role !== before.role && { role }),
    ...(active !== before.active && { active }),
  };
  const event = UserChanged.of({ user_id, ...membership, epoch }, name === undefined ? {} : { name });
  if (!isSame) requireOwner(evolveMembers(members, event));
  return [event];
}

/**
 * Decides the commands about people. Throws `forbidden`, `member_not_found`, `last_owner`, `user_exists`, `email_taken`,
 * `too_many_members`, `invalid_session`.
 */
export function decideMembers(command: UserCommand, members: Members): UserEvent[] {
  const { user_id } = command.data;
  const before = findMember(members, user_id);
  if (command.type === "RegisterUser") {
    const { role, email, email_claim, name, password_hash } = command.data;
    requirePermission(command, members, [role]);
    if (before) throw new Rejection("user_exists", "This user exists already.");
    if (Object.values(members).some((member) => member.email_claim === email_claim)) throw emailTaken();
    if (Object.keys(members).length >= MAX_MEMBERS) throw tooManyMembers();
    return [UserRegistered.of({ user_id, role, email_claim }, { email, name, password_hash })];
  }
  if (!before) throw new Rejection("member_not_found", "No member has this id.", { param: "id" });
  /** For commands that people may also send for themselves. */
  const requireOwnPermission = () => {
    if (command.principal !== `person:${user_id}`) requirePermission(command, members, [before.role]);
  };
  switch (command.type) {
    case "ChangeUser":
      return change(command, before, members);
    case "SetPassword": {
      requireOwnPermission();
      const { password_hash } = command.data;
      return [PasswordSet.of({ user_id, epoch: before.epoch + 1 }, { password_hash })];
    }
    case "ChangePassword": {
      if (command.principal !== `person:${user_id}`) throw forbidden("Only the member may do this.");
      const { password_hash, epoch } = command.data;
      if (epoch !== before.epoch)
        throw new Rejection("invalid_session", "Your sessions have ended; sign in with the new password.");
      return [PasswordSet.of({ user_id, epoch: epoch + 1 }, { password_hash })];
    }
    case "NameSubstitute":
      requireOwnPermission();
      if (!findMember(members, command.data.substitute_id)?.active)
        throw new Rejection("invalid_substitute", "substitute: must be an active member.", { param: "substitute" });
      return [SubstituteNamed.of(command.data)];
    case "WithdrawSubstitute":
      requireOwnPermission();
      return command.data.named === false ? [] : [SubstituteWithdrawn.of({ user_id })];
    case "RemoveUser": {
      requirePermission(command, members, [before.role]);
      const event = UserRemoved.of({ user_id, email_claim: before.email_claim });
      requireOwner(evolveMembers(members, event));
      return [event];
    }
  }
}

export function evolveMembers(members: Members, event: UserEvent): Members {
  // substitutes are read when a decision is made (ADR 64)
  if (event.type === "SubstituteNamed" || event.type === "SubstituteWithdrawn") return members;
  const { user_id } = event.data;
  if (event.type === "UserRegistered") {
    const { role, email_claim } = event.data;
    return put(members, user_id, { role, email_claim, active: true, epoch: 1 });
  }
  const before = findMember(members, user_id);
  const others = without(members, user_id);
  if (event.type === "UserRemoved" || !before) return others;
  if (event.type === "PasswordSet") return put(others, user_id, { ...before, epoch: event.data.epoch });
  const { role = before.role, active = before.active, epoch } = event.data;
  return put(others, user_id, { ...before, role, active, epoch });
}
