import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamOf } from "#events/ids.ts";
import { EndSession, StartSession } from "#events/session.ts";
import { Role, SetPassword } from "#events/user.ts";
import { findUserByEmail, findUserById, type UserRow } from "#projections/users/query.ts";
import { requireSession } from "../auth/authenticate.ts";
import { hashPassword, verifyPassword } from "../auth/password.ts";
import { newSecret } from "../auth/secrets.ts";
import { clearAttempts, countAttempt } from "../auth/throttle.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { notReadable } from "../send.ts";
import type { App } from "../app.ts";

const ABSOLUTE_MS = 30 * 24 * 60 * 60 * 1000;

const Login = z.object({ email: z.string().min(3).max(320), password: z.string().min(1).max(1_000) });
const NewPassword = z.object({
  current_password: z.string().min(1).max(1_000),
  new_password: z.string().min(12).max(1_000),
});
const Person = z.object({
  user: z.object({ id: z.string(), email: z.string(), name: z.string(), role: Role }),
  organization: z.object({ id: z.string(), name: z.string() }),
});
const LoggedIn = Person.extend({ token: z.string().describe("Shown once."), expires_at: z.iso.datetime() });

type Row = Pick<UserRow, "email" | "name" | "role" | "organization_id" | "organization_name">;

const present = (
  id: string,
  { email, name, role, organization_id, organization_name }: Row,
): z.infer<typeof Person> => ({
  user: { id, email, name, role },
  organization: { id: organization_id, name: organization_name },
});

/** A new session of a person whose password was right. */
async function signIn(http: Http, request_id: string, user: UserRow): Promise<z.infer<typeof LoggedIn>> {
  const token = newSecret("sess", http.settings.SERVICE_NAME);
  const session_id = newId();
  const expires_at = new Date(Date.now() + ABSOLUTE_MS).toISOString();
  await http.send(StartSession, {
    stream: streamOf("session", session_id),
    organization_id: user.organization_id,
    principal: `person:${user.id}`,
    request_id,
    fresh: true,
    data: { session_id, user_id: user.id, token_hash: token.hash, epoch: user.epoch, expires_at },
    waitFor: ["sessions"],
  });
  return { token: token.secret, expires_at, ...present(user.id, user) };
}

async function changePassword(http: Http, request: FastifyRequest, body: z.infer<typeof NewPassword>) {
  const { organization_id, principal, session } = request.caller;
  const { user_id, email } = session!;
  await countAttempt(http.db, request.ip, email);
  const user = await findUserById(http.db, user_id);
  if (!(await verifyPassword(body.current_password, user?.password_hash)))
    throw new ApiError("wrong_password", "current_password: this is not the password.", { param: "current_password" });
  await clearAttempts(http.db, request.ip, email);
  await http.send(SetPassword, {
    stream: streamOf("organization", organization_id),
    organization_id,
    principal,
    request_id: request.id,
    data: { user_id, password_hash: await hashPassword(body.new_password) },
    waitFor: ["users", "sessions"],
    mustFollow: true,
  });
  const changed = await findUserById(http.db, user_id);
  if (!changed) throw notReadable();
  return signIn(http, request.id, changed);
}

/** Signing in and out (decisions: accounts). A token lasts 12 h without use, 30 days at most. */
export function sessionRoutes(app: App, http: Http): void {
  const described = { tags: ["Accounts"] };

  app.post(
    "/auth/login",
    { schema: { ...described, summary: "Sign in", body: Login, response: { 200: LoggedIn } } },
    async (request) => {
      const email = request.body.email.trim().toLowerCase();
      await countAttempt(http.db, request.ip, email);
      const user = await findUserByEmail(http.db, email);
      if (!(await verifyPassword(request.body.password, user?.password_hash)) || !user)
        throw new ApiError("invalid_credentials", "The email address or the password is not right.");
      await clearAttempts(http.db, request.ip, email);
      return signIn(http, request.id, user);
    },
  );

  const mine = { ...described, security: [{ session: [] }] };
  const onRequest = requireSession(http);

  app.get(
    "/auth/me",
    { onRequest, schema: { ...mine, summary: "Who is signed in", response: { 200: Person } } },
    ({ caller }) => {
      const session = caller.session!;
      return present(session.user_id, session);
    },
  );

  const changing = {
    ...mine,
    summary: "Change one's password",
    description: "All sessions of the person end, and a new one begins. At least 12 characters.",
    body: NewPassword,
    response: { 200: LoggedIn },
  };
  app.post("/auth/password", { onRequest, schema: changing }, (request) => changePassword(http, request, request.body));

  app.post(
    "/auth/logout",
    { onRequest, schema: { ...mine, summary: "Sign out", response: { 204: z.null() } } },
    async (request, reply) => {
      const { organization_id, principal, session } = request.caller;
      const { session_id } = session!;
      const stream = streamOf("session", session_id);
      await http.send(EndSession, {
        stream,
        organization_id,
        principal,
        request_id: request.id,
        data: { session_id },
        waitFor: ["sessions"],
        mustFollow: true,
      });
      return reply.code(204).send(null);
    },
  );
}
