import { isDeepStrictEqual } from "node:util";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { newId, streamName } from "#events/ids.ts";
import { EndSession, StartSession } from "#events/session.ts";
import { DAY_MS } from "#events/units.ts";
import { ChangePassword, Role } from "#events/user.ts";
import { findUserById, findUsersByEmail, type UserRow } from "#projections/users/query.ts";
import { requireSession } from "../auth/authenticate.ts";
import { checkSignInOrigin, noSessionCookie, sessionCookie } from "../auth/cookie.ts";
import { hashPassword, verifyPassword } from "../auth/password.ts";
import { queueHash } from "../auth/passwordQueue.ts";
import { newSecret } from "../auth/secrets.ts";
import { clearAttempts, countAttempt, countSignInBeyondLimit } from "../auth/throttle.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { notReadableYet } from "../base/send.ts";
import type { App } from "../base/app.ts";
import { endUnusedSessions } from "./endUnusedSessions.ts";

/** Enough for an e-mail address and a password; the sender is not authenticated yet. */
const MAX_LOGIN_BYTES = 16 * 1024;

/** A session ends after 30 days even if it is used, and after 12 hours without use (`authenticate.ts`). */
const MAX_SESSION_MS = 30 * DAY_MS;

/**
 * Maximum accounts tried if the sign-in names an address but no organization. Always this many passwords are compared, so that
 * the time does not reveal how many organizations know the address (ADR 22).
 */
const MAX_ACCOUNTS = 2;

const ByCookie = z
  .boolean()
  .optional()
  .describe("Sets the session as a cookie instead of returning its token: for pages of this service.");
const Login = z.object({
  email: z.string().min(3).max(320),
  password: z.string().min(1).max(1_000),
  organization: z.uuid().optional().describe("Id. Needed by people who are members of several organizations."),
  cookie: ByCookie,
});
const Start = z.object({ code: z.string().min(1).max(200).describe("The code of the link that `npm start` prints.") });
const NewPassword = z.object({
  current_password: z.string().min(1).max(1_000),
  new_password: z.string().min(12).max(1_000),
});
const Person = z
  .object({
    user: z.object({ id: z.string(), email: z.string(), name: z.string(), role: Role }),
    organization: z.object({ id: z.string(), name: z.string() }),
  })
  .meta({ title: "SignedInPerson" });
const LoggedIn = Person.extend({
  token: z.string().optional().describe("Shown once. Absent when the session is a cookie."),
  expires_at: z.iso.datetime(),
}).meta({ title: "Session" });
type LoggedIn = z.infer<typeof LoggedIn> & { token: string };

type SignedInUser = Pick<UserRow, "email" | "name" | "role" | "organization_id" | "organization_name">;

const present = (
  id: string,
  { email, name, role, organization_id, organization_name }: SignedInUser,
): z.infer<typeof Person> => ({
  user: { id, email, name, role },
  organization: { id: organization_id, name: organization_name },
});

/** Starts a session for a person whose password has been checked. */
async function signIn(http: Http, request_id: string, user: UserRow): Promise<LoggedIn> {
  if (http.logLimits.finalRefusal(user.organization_id)) await countSignInBeyondLimit(http.loginAttempts, user);
  await endUnusedSessions(http, request_id, user);
  const token = newSecret("sess", http.settings.SERVICE_NAME);
  const session_id = newId();
  const expires_at = new Date(currentTime() + MAX_SESSION_MS).toISOString();
  await http.send(StartSession, {
    stream: streamName("session", session_id),
    organization_id: user.organization_id,
    principal: `person:${user.id}`,
    request_id,
    fresh: true,
    // nothing to wait for: a request whose session is not yet in the read model waits for it
    data: { session_id, user_id: user.id, token_hash: token.hash, epoch: user.epoch, expires_at },
  });
  return { token: token.secret, expires_at, ...present(user.id, user) };
}

/** Puts the token in a cookie that scripts of the page cannot read. */
function answerByCookie({ settings }: Http, reply: FastifyReply, { token, ...rest }: LoggedIn) {
  reply.header("set-cookie", sessionCookie(settings, token, new Date(rest.expires_at)));
  return rest;
}

/** Signs in a person with a one-time code. Throws 401 `invalid_start_code`. */
async function redeemStartCode(http: Http, request: FastifyRequest, code: string): Promise<LoggedIn> {
  const person = http.startCodes.redeem(code);
  const filter = { organization: person?.organization_id ?? null, limit: 1 };
  const [user] = person ? await findUsersByEmail(http.db, person.email, filter) : [];
  if (!user) throw new ApiError("invalid_start_code", "This link was used or is older than ten minutes; sign in.");
  return signIn(http, request.id, user);
}

async function changePassword(http: Http, request: FastifyRequest, body: z.infer<typeof NewPassword>) {
  const { organization_id, session } = request.caller;
  const { user_id } = session!;
  const attempt = { kind: "password", user_id } as const;
  const recorded = await countAttempt(http.loginAttempts, attempt);
  const user = await findUserById(http.db, user_id);
  const verify = () => verifyPassword(body.current_password, user?.password_hash);
  const isRight = await queueHash(http, request, verify);
  if (!user || !isRight) {
    await http.loginAttempts.markWrong(recorded);
    throw new ApiError("wrong_password", "current_password: the password is wrong.", { param: "current_password" });
  }
  await clearAttempts(http.loginAttempts, attempt, recorded);
  const password_hash = await queueHash(http, request, () => hashPassword(body.new_password));
  // hashing may have waited for seconds, and an administrator may have ended the session in that time
  await request.recheckCredential?.();
  await http.send(ChangePassword, {
    ...commandFields(request, streamName("organization", organization_id), ["users", "sessions"]),
    data: { user_id, password_hash, epoch: user.epoch },
    requireProjected: true,
  });
  const changed = await findUserById(http.db, user_id);
  if (!changed) throw notReadableYet();
  if (changed.password_hash !== password_hash)
    throw new ApiError("invalid_session", "Another password was set at the same time; sign in with that one.");
  return signIn(http, request.id, changed);
}

type Verify = (password: string, phc: string | undefined) => Promise<boolean>;

/** Finds the account that has the password; undefined if none does. Throws 400 `organization_required`. */
async function matchPassword(
  verify: Verify,
  accounts: UserRow[],
  { password, organization }: z.infer<typeof Login>,
): Promise<UserRow | undefined> {
  // so that an unknown address takes as long as a known one
  const checked = Array.from({ length: organization === undefined ? MAX_ACCOUNTS : 1 }, (_, n) => accounts[n]);
  const matches = await Promise.all(checked.map((account) => verify(password, account?.password_hash)));
  const [user, another] = accounts.filter((_, n) => matches[n]);
  if (!another) return user;
  throw new ApiError("organization_required", "organization: is needed, because you are a member of several.", {
    param: "organization",
  });
}

/**
 * Finds the person with this address and password. Throws 401 `invalid_credentials` and 400 `organization_required`. Waits for
 * fresh read models before refusing anybody, because a member may have been created a moment ago. Calls `wasWrong` before an
 * answer can reveal that a password is wrong.
 */
async function checkPassword(
  http: Http,
  request: FastifyRequest,
  { email, body, wasWrong }: { email: string; body: z.infer<typeof Login>; wasWrong(): Promise<void> },
) {
  const verify: Verify = (password, phc) => queueHash(http, request, () => verifyPassword(password, phc));
  const { organization = null } = body;
  const find = () =>
    findUsersByEmail(http.db, email, { organization, limit: organization === null ? MAX_ACCOUNTS : 1 });
  const known = await find();
  const user = await matchPassword(verify, known, body);
  if (user) return { user, compared: known.length };
  await wasWrong();
  await http.waitUntilCurrent(["users"]);
  const fresh = await find();
  const changed = isDeepStrictEqual(fresh, known) ? undefined : await matchPassword(verify, fresh, body);
  if (changed) return { user: changed, compared: fresh.length };
  throw new ApiError("invalid_credentials", "The email address or the password is wrong.");
}

/** Whether members of several organizations have the address. */
async function isShared({ db }: Http, email: string): Promise<boolean> {
  return (await findUsersByEmail(db, email, { organization: null, limit: 2 })).length > 1;
}

async function logIn(http: Http, request: FastifyRequest, body: z.infer<typeof Login>) {
  const email = body.email.trim().toLowerCase();
  const attempt = { kind: "login", address: request.ip, email } as const;
  let recorded = await countAttempt(http.loginAttempts, attempt);
  const wasWrong = async (): Promise<void> => {
    recorded = await http.loginAttempts.markWrong(recorded);
  };
  const { user, compared } = await checkPassword(http, request, { email, body, wasWrong });
  // It was a guess at another account, too: `organization_required` would have revealed that it is right there.
  if (compared > 1) await wasWrong();
  // otherwise a member elsewhere with this address could reset the count between guesses at an account here
  else if (await isShared(http, email)) await http.loginAttempts.withdraw(recorded);
  else await clearAttempts(http.loginAttempts, attempt, recorded);
  return signIn(http, request.id, user);
}

/** Signing in and out. */
export function sessionRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Accounts"] };
  const loggingIn = { ...baseSchema, summary: "Sign in", body: Login, response: { 200: LoggedIn } };
  app.post("/auth/login", { schema: loggingIn, bodyLimit: MAX_LOGIN_BYTES }, async (request, reply) => {
    if (request.body.cookie) checkSignInOrigin(http.settings, request);
    const session = await logIn(http, request, request.body);
    return request.body.cookie ? answerByCookie(http, reply, session) : session;
  });

  const starting = {
    ...baseSchema,
    summary: "Sign in with a one-time link",
    description:
      "Sets the session as a cookie. The code works once, for ten minutes, and at the process that printed it.",
    body: Start,
    response: { 200: LoggedIn },
  };
  app.post("/auth/start", { schema: starting, bodyLimit: MAX_LOGIN_BYTES }, async (request, reply) => {
    checkSignInOrigin(http.settings, request);
    return answerByCookie(http, reply, await redeemStartCode(http, request, request.body.code));
  });

  const ownSession = { ...baseSchema, security: [{ session: [] }] };
  const onRequest = requireSession(http);

  const reading = { ...ownSession, summary: "Get the person who is signed in", response: { 200: Person } };
  app.get("/auth/me", { onRequest, schema: reading }, ({ caller }) =>
    present(caller.session!.user_id, caller.session!),
  );

  const changing = {
    ...ownSession,
    summary: "Change your password",
    description: "Ends all your sessions and starts a new one. At least 12 characters.",
    body: NewPassword,
    response: { 200: LoggedIn },
  };
  app.post("/auth/password", { onRequest, schema: changing }, async (request, reply) => {
    const session = await changePassword(http, request, request.body);
    return request.caller.by_cookie ? answerByCookie(http, reply, session) : session;
  });

  const loggingOut = { ...ownSession, summary: "Sign out", response: { 204: z.null() } };
  app.post("/auth/logout", { onRequest, schema: loggingOut }, async (request, reply) => {
    const { session_id } = request.caller.session!;
    const fields = commandFields(request, streamName("session", session_id), ["sessions"]);
    await http.send(EndSession, { ...fields, data: { session_id }, requireProjected: true });
    if (request.caller.by_cookie) reply.header("set-cookie", noSessionCookie(http.settings));
    return reply.code(204).send(null);
  });
}
