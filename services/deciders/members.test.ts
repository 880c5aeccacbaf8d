import { describe, expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import type { Principal } from "#events/envelope.ts";
import { OrganizationCreated } from "#events/organization.ts";
import { PasswordSet, SubstituteWithdrawn, UserChanged, UserRegistered, UserRemoved, type Role } from "#events/user.ts";
import { command, given as givenEvents } from "#test/given.ts";
import { decideMembers, MAX_MEMBERS } from "./members.ts";
import { organization } from "./organization.ts";

const created = OrganizationCreated.of({ organization_id: "o1" }, { name: "A" });
const given = (...events: NewEvent[]) => givenEvents(organization, [created, ...events]);
const person = { email: "a@example.com", name: "A", password_hash: "h" };
const registered = (user_id: string, role: Role) =>
  UserRegistered.of({ user_id, role, email_claim: `claim of ${user_id}` }, person);

/** A command sent by the member with this id. */
const by = (who: Principal, type: string, data: object) => command(type, data, { principal: who });
const owner = registered("o", "owner");
const admin = registered("a", "admin");
const builder = registered("b", "builder");
const changed = (user_id: string, what: { role?: Role; active?: boolean }, epoch = 1) =>
  UserChanged.of({ user_id, ...what, epoch }, {});

test("a person is registered only once, with a keyed hash of the e-mail address that nobody else in the organization has", () => {
  const register = command("RegisterUser", { user_id: "u1", role: "owner", email_claim: "mark", ...person });
  const { state } = given();
  const events = organization.decide(register as never, state);
  expect(events).toMatchObject([{ type: "UserRegistered", personal: person }]);
  expect(JSON.stringify(events[0]!.data)).not.toContain("example.com");
  const members = given(...events);
  members.when(register).rejected("user_exists");
  const other = { user_id: "u2", role: "viewer", ...person };
  members.when(command("RegisterUser", { ...other, email_claim: "mark" })).rejected("email_taken");
  members
    .when(command("RegisterUser", { ...other, email_claim: "other mark" }))
    .then(UserRegistered.of({ user_id: "u2", role: "viewer", email_claim: "other mark" }, person));
  givenEvents(organization).when(register).rejected("organization_not_found");
});

test("a substitute that was not named is not withdrawn, and only its person and administrators may ask", () => {
  const withdraw = (who: Principal, named?: boolean) => by(who, "WithdrawSubstitute", { user_id: "b", named });
  const withdrawn = SubstituteWithdrawn.of({ user_id: "b" });
  const members = given(owner, admin, builder, registered("v", "viewer"));
  for (const who of ["person:b", "person:a", "person:o"] as const) {
    members.when(withdraw(who)).then(withdrawn);
    members.when(withdraw(who, true)).then(withdrawn);
    members.when(withdraw(who, false)).then();
  }
  members.when(withdraw("person:v", false)).rejected("forbidden");
});

test("an organization has at most 10,000 members", () => {
  const member = (n: number) => ({ role: "viewer" as const, active: n % 2 === 0, email_claim: `claim ${n}`, epoch: 1 });
  const members = Object.fromEntries(Array.from({ length: MAX_MEMBERS - 1 }, (_, n) => [`u${n}`, member(n)]));
  const data = { user_id: "new", role: "viewer", email_claim: "mark", ...person };
  const register = () => decideMembers(command("RegisterUser", data) as never, members);
  expect(register()).toMatchObject([{ type: "UserRegistered" }]);
  members["last"] = member(MAX_MEMBERS);
  expect(register).toThrow(expect.objectContaining({ code: "too_many_members", param: "email" }));
  const change = command("ChangeUser", { user_id: "last", name: "Last" });
  expect(decideMembers(change as never, members)).toMatchObject([{ type: "UserChanged" }]);
});

test("removing a person destroys their data key and frees the e-mail address", () => {
  const removed = UserRemoved.of({ user_id: "b", email_claim: "claim of b" });
  given(owner, builder)
    .when(by("person:o", "RemoveUser", { user_id: "b" }))
    .then(removed);
  expect(organization.erases!([removed], "organization-o1")).toEqual({ things: ["user-b"] });
  const again = { user_id: "c", role: "viewer" as const, email_claim: "claim of b" };
  given(owner, builder, removed)
    .when(by("person:o", "RegisterUser", { ...again, ...person }))
    .then(UserRegistered.of(again, person));
  given(owner, builder, removed)
    .when(by("person:o", "ChangeUser", { user_id: "b", role: "admin" }))
    .rejected("member_not_found");
});

test("a change of a person records only the changed fields, and an empty change has no event", () => {
  const members = given(owner, builder);
  const ask = (data: object) => members.when(by("person:o", "ChangeUser", { user_id: "b", ...data }));
  ask({ role: "viewer" }).then(changed("b", { role: "viewer" }));
  ask({ name: "B" }).then(UserChanged.of({ user_id: "b", epoch: 1 }, { name: "B" }));
  ask({ role: "builder", active: true }).then();
  ask({}).then();
  members.when(by("person:o", "ChangeUser", { user_id: "__proto__", role: "viewer" })).rejected("member_not_found");
});

test("a new password and a deactivation start a new session epoch", () => {
  const off = changed("b", { active: false }, 2);
  const on = changed("b", { active: true }, 2);
  given(owner, builder)
    .when(by("person:o", "ChangeUser", { user_id: "b", active: false }))
    .then(off);
  given(owner, builder, off)
    .when(by("person:o", "ChangeUser", { user_id: "b", active: true }))
    .then(on);
  given(owner, builder, off, on)
    .when(by("person:b", "SetPassword", { user_id: "b", password_hash: "new" }))
    .then(PasswordSet.of({ user_id: "b", epoch: 3 }, { password_hash: "new" }));
});

test("a member's own change of the password is refused once the password was set or the member deactivated", () => {
  const ask = (epoch: number, who: Principal = "person:b") =>
    by(who, "ChangePassword", { user_id: "b", password_hash: "own", epoch });
  const reset = PasswordSet.of({ user_id: "b", epoch: 2 }, { password_hash: "reset" });
  given(owner, builder)
    .when(ask(1))
    .then(PasswordSet.of({ user_id: "b", epoch: 2 }, { password_hash: "own" }));
  given(owner, builder, reset).when(ask(1)).rejected("invalid_session");
  given(owner, builder, reset)
    .when(ask(2))
    .then(PasswordSet.of({ user_id: "b", epoch: 3 }, { password_hash: "own" }));
  given(owner, builder, changed("b", { active: false }, 2))
    .when(ask(1))
    .rejected("invalid_session");
  given(owner, builder).when(ask(1, "person:o")).rejected("forbidden");
  // an administrator's reset replaces every password, also one that was changed a moment ago
  given(owner, builder, reset)
    .when(by("person:o", "SetPassword", { user_id: "b", password_hash: "n" }))
    .then(PasswordSet.of({ user_id: "b", epoch: 3 }, { password_hash: "n" }));
});

describe("a change of a person", () => {
  const second = registered("p", "owner");
  const members = given(owner, second, admin, registered("a2", "admin"), builder);
  const asks = (who: Principal, user_id: string): [what: string, asked: ReturnType<typeof command>][] => [
    ["demote", by(who, "ChangeUser", { user_id, role: "viewer" })],
    ["deactivate", by(who, "ChangeUser", { user_id, active: false })],
    ["rename", by(who, "ChangeUser", { user_id, name: "N" })],
    ["remove", by(who, "RemoveUser", { user_id })],
    ["give a new password", by(who, "SetPassword", { user_id, password_hash: "n" })],
  ];
  const may = (request: ReturnType<typeof command>) => {
    try {
      return organization.decide(request as never, members.state).length > 0;
    } catch (error) {
      expect(error).toMatchObject({ code: "forbidden" });
      return false;
    }
  };

  test.each<[who: Principal, whom: string, allowed: boolean]>([
    ["person:o", "p", true],
    ["person:o", "a", true],
    ["person:o", "b", true],
    ["person:a", "o", false],
    ["person:a", "a2", true],
    ["person:a", "b", true],
    ["person:b", "a", false],
    ["person:b", "o", false],
    ["person:nobody", "b", false],
    ["key:o", "b", false],
    ["system", "o", true],
  ])("by %s of %s is allowed: %s", (who, whom, allowed) => {
    expect(asks(who, whom).map(([what, request]) => [what, may(request)])).toEqual(
      asks(who, whom).map(([what]) => [what, allowed]),
    );
  });

  test.each<[who: Principal, role: Role, allowed: boolean]>([
    ["person:o", "owner", true],
    ["person:a", "owner", false],
    ["person:a", "admin", true],
    ["person:a", "viewer", true],
    ["person:b", "viewer", false],
    ["system", "owner", true],
  ])("by %s to the role %s is allowed: %s", (who, role, allowed) => {
    expect(may(by(who, "RegisterUser", { user_id: "n", role, email_claim: "mark", ...person }))).toBe(allowed);
    expect(may(by(who, "ChangeUser", { user_id: "b", role: role === "builder" ? "admin" : role }))).toBe(allowed);
  });

  test("is refused to members who would raise their own role", () => {
    members.when(by("person:a", "ChangeUser", { user_id: "a", role: "owner" })).rejected("forbidden");
    members.when(by("person:b", "ChangeUser", { user_id: "b", role: "admin" })).rejected("forbidden");
    members
      .when(by("person:b", "SetPassword", { user_id: "b", password_hash: "n" }))
      .then(PasswordSet.of({ user_id: "b", epoch: 2 }, { password_hash: "n" }));
  });

  test("is refused to a caller who was just demoted or deactivated", () => {
    const remove = by("person:a", "RemoveUser", { user_id: "b" });
    for (const what of [{ role: "builder" as const }, { active: false }])
      given(owner, admin, builder, changed("a", what)).when(remove).rejected("forbidden");
  });
});

test("the last active owner cannot be demoted, deactivated or removed", () => {
  const second = registered("p", "owner");
  const off = changed("p", { active: false }, 2);
  for (const members of [
    given(owner, admin),
    given(owner, second, off),
    given(owner, second, changed("p", { role: "admin" })),
  ])
    for (const what of [{ role: "admin" }, { active: false }, undefined]) {
      const request = what
        ? by("person:o", "ChangeUser", { user_id: "o", ...what })
        : by("person:o", "RemoveUser", { user_id: "o" });
      members.when(request).rejected("last_owner");
    }
  given(owner, second)
    .when(by("person:o", "ChangeUser", { user_id: "o", role: "viewer" }))
    .then(changed("o", { role: "viewer" }));
});
