import { PERSONAL } from "../topology.ts";
import { onceOnly, perform, type Action } from "./session.ts";
import type { KnownMember } from "./known.ts";

const ROLES = ["admin", "builder", "approver", "viewer"] as const;
const stateOf = ({ body }: { body: any }) => ({ role: body.role, active: body.active });

export async function createMember(action: Action, token: string): Promise<void> {
  const { id, random, session } = action;
  const email = `${PERSONAL}-${id}@example.com`;
  const role = random.pick(ROLES);
  let password: string | undefined;
  const done = await perform(action, {
    what: "member.create",
    keyed: true,
    asked: { role, active: true },
    wanted: {
      method: "POST",
      path: "/api/members",
      token,
      headers: onceOnly(id),
      body: { email, name: `${id} ${PERSONAL}`, role },
    },
    read(answered) {
      password = answered.body.password;
      return { member_id: answered.body.id, ...stateOf(answered) };
    },
  });
  const { member_id } = done.got;
  if (member_id) session.members.push({ id: member_id, email, password, active: true, gone: false, tokens: [] });
}

/** Signs a person in, including one whose sign-in must fail. */
export async function loginMember(action: Action, member: KnownMember): Promise<void> {
  const { id: member_id, email, password } = member;
  if (password === undefined) return;
  const done = await perform(action, {
    what: "member.login",
    asked: { member_id },
    wanted: { method: "POST", path: "/api/auth/login", body: { email, password } },
    read: ({ body }) => ({ token: body.token, role: body.user.role }),
  });
  if (done.got["token"]) member.tokens.push(done.got["token"]);
}

/** Uses the person's last session, whether or not it has ended since. */
export async function useMember(action: Action, { id: member_id, tokens }: KnownMember): Promise<void> {
  const token = tokens.at(-1);
  if (token === undefined) return;
  await perform(action, {
    what: "member.use",
    asked: { member_id, token },
    wanted: { method: "GET", path: "/api/auth/me", token },
    read: ({ body }) => ({ role: body.user.role }),
  });
}

export async function readMember(action: Action, { id: member_id }: KnownMember, token: string): Promise<void> {
  await perform(action, {
    what: "member.read",
    asked: { member_id },
    wanted: { method: "GET", path: `/api/members/${member_id}`, token },
    read: stateOf,
  });
}

/** Changes the person's role, or deactivates or activates the person. */
export async function changeMember(action: Action, member: KnownMember, token: string): Promise<void> {
  const { random } = action;
  await change(action, member, token, random.chance(0.5) ? { role: random.pick(ROLES) } : { active: !member.active });
}

/** A deactivated person uses the earlier session, and again after activation. */
export async function suspendMember(action: Action, member: KnownMember, token: string): Promise<void> {
  for (const active of [false, true]) {
    const part = { ...action, id: `${action.id}-${active}` };
    await change(part, member, token, { active });
    await useMember({ ...part, id: `${part.id}-use` }, member);
  }
}

type Change = { role: string } | { active: boolean };

async function change(action: Action, member: KnownMember, token: string, change: Change): Promise<void> {
  const { id: member_id } = member;
  if ("active" in change) member.active = change.active;
  await perform(action, {
    what: "member.change",
    asked: { member_id, ...change },
    wanted: { method: "PATCH", path: `/api/members/${member_id}`, token, body: change },
    read: stateOf,
  });
}

export async function resetPassword(action: Action, member: KnownMember, token: string): Promise<void> {
  member.password = undefined;
  await perform(action, {
    what: "member.password",
    asked: { member_id: member.id },
    wanted: { method: "POST", path: `/api/members/${member.id}/password`, token },
    read({ body }) {
      member.password = body.password;
      return {};
    },
  });
}

/** The person is remembered: sign-ins must fail from now on. */
export async function deleteMember(action: Action, member: KnownMember, token: string): Promise<void> {
  member.gone = true;
  await perform(action, {
    what: "member.delete",
    asked: { member_id: member.id },
    wanted: { method: "DELETE", path: `/api/members/${member.id}`, token },
  });
}
