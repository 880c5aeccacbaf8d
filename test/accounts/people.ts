import type { Role } from "#events/user.ts";
import { clientOf } from "../http/service.ts";
import { openDesk } from "../tools/desk.ts";

/** Starts the service with one organization, and helpers to manage its members. */
export async function openPeople(env?: Record<string, string>) {
  const desk = await openDesk(env);
  const { api, service, person: owner } = desk;
  let number = 0;

  const login = (
    email: string,
    password: string,
    headers: Record<string, string> = {},
    more: { organization?: string } = {},
  ) => clientOf({ chat: api }, "none")("POST", "/auth/login", { email, password, ...more }, headers);
  const add = (body: object = {}, by = owner, headers?: Record<string, string>) => {
    const nth = ++number;
    const email = `member${nth}.${service.credentials.organization_id.slice(-12)}@example.com`;
    return by("POST", "/members", { email, name: `Member ${nth}`, role: "viewer", ...body }, headers);
  };
  /** Adds a member and signs in as them. */
  async function join(role: Role, by = owner) {
    const { status, body, text } = await add({ role }, by);
    if (status !== 201) throw new Error(text);
    const { id, email, password } = body as Record<"id" | "email" | "password", string>;
    const { token } = (await login(email, password)).body as { token: string };
    return { id, email, password, token, call: clientOf({ chat: api }, token) };
  }
  return { ...desk, owner, login, add, join };
}
export type People = Awaited<ReturnType<typeof openPeople>>;
