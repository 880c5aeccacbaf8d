import { PERSONAL } from "../topology.ts";
import { onceOnly, perform, type Doing } from "./session.ts";

/** A person whom only this client manages. */
export interface KnownMember {
  id: string;
  email: string;
  /** Undefined while it is not known: it is shown once. */
  password: string | undefined;
  active: boolean;
  /** Somebody has wanted the person removed. */
  gone: boolean;
  /** Of all sessions that the person has had. */
  tokens: string[];
}

const ROLES = ["admin", "builder", "approver", "viewer"] as const;
const standing = ({ body }: { body: any }) => ({ role: body.role, active: body.active });

export async function createMember(doing: Doing, token: string): Promise<void> {
  const { id, random, session } = doing;
  const email = `${PERSONAL}-${id}@example.com`;
  const role = random.pick(ROLES);
  let password: string | undefined;
  const done = await perform(doing, {
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
      return { member_id: answered.body.id, ...standing(answered) };
    },
  });
  const { member_id } = done.got;
  if (member_id) session.members.push({ id: member_id, email, password, active: true, gone: false, tokens: [] });
}

/** Signs the person in, also one who may not be. */
export async function loginMember(doing: Doing, member: KnownMember): Promise<void> {
  const { id: member_id, email, password } = member;
  if (password === undefined) return;
  const done = await perform(doing, {
    what: "member.login",
    asked: { member_id },
    wanted: { method: "POST", path: "/api/auth/login", body: { email, password } },
    read: ({ body }) => ({ token: body.token, role: body.user.role }),
  });
  if (done.got["token"]) member.tokens.push(done.got["token"]);
}

/** Comes with the last session that the person has had, whether or not it has ended since. */
export async function useMember(doing: Doing, { id: member_id, tokens }: KnownMember): Promise<void> {
  const token = tokens.at(-1);
  if (token === undefined) return;
  await perform(doing, {
    what: "member.use",
    asked: { member_id, token },
    wanted: { method: "GET", path: "/api/auth/me", token },
    read: ({ body }) => ({ role: body.user.role }),
  });
}

export async function readMember(doing: Doing, { id: member_id }: KnownMember, token: string): Promise<void> {
  await perform(doing, {
    what: "member.read",
    asked: { member_id },
    wanted: { method: "GET", path: `/api/members/${member_id}`, token },
    read: standing,
  });
}

/** Gives the person another role, or ends or begins what the person may do. */
export async function changeMember(doing: Doing, member: KnownMember, token: string): Promise<void> {
  const { random } = doing;
  await change(doing, member, token, random.chance(0.5) ? { role: random.pick(ROLES) } : { active: !member.active });
}

/** Who was deactivated comes with the session of before, and again when active. */
export async function suspendMember(doing: Doing, member: KnownMember, token: string): Promise<void> {
  for (const active of [false, true]) {
    const part = { ...doing, id: `${doing.id}-${active}` };
    await change(part, member, token, { active });
    await useMember({ ...part, id: `${part.id}-use` }, member);
  }
}

type Change = { role: string } | { active: boolean };

async function change(doing: Doing, member: KnownMember, token: string, change: Change): Promise<void> {
  const { id: member_id } = member;
  if ("active" in change) member.active = change.active;
  await perform(doing, {
    what: "member.change",
    asked: { member_id, ...change },
    wanted: { method: "PATCH", path: `/api/members/${member_id}`, token, body: change },
    read: standing,
  });
}

export async function resetPassword(doing: Doing, member: KnownMember, token: string): Promise<void> {
  member.password = undefined;
  await perform(doing, {
    what: "member.password",
    asked: { member_id: member.id },
    wanted: { method: "POST", path: `/api/members/${member.id}/password`, token },
    read({ body }) {
      member.password = body.password;
      return {};
    },
  });
}

/** The person is remembered, to be seen signing in in vain. */
export async function deleteMember(doing: Doing, member: KnownMember, token: string): Promise<void> {
  member.gone = true;
  await perform(doing, {
    what: "member.delete",
    asked: { member_id: member.id },
    wanted: { method: "DELETE", path: `/api/members/${member.id}`, token },
  });
}
