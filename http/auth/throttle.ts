import { createHash } from "node:crypto";
import { ApiError } from "../base/errors.ts";
import { networkOf } from "../base/networkOf.ts";
import type { LoginAttempts, RecordedAttempt } from "../base/ports.ts";

const WINDOW_SECONDS = 15 * 60;
/** Attempts per account and address. Attempts from elsewhere cannot lock out the account's owner. */
const MAX_PER_ACCOUNT = 10;
/** Attempts per address, for all accounts together. */
const MAX_PER_ADDRESS = 50;

/**
 * Sign-ins of a person, and of an organization, while its events take 10 % more than they may: each writes some. Enough to sign in
 * and delete something.
 */
const MAX_BEYOND_LIMIT = { person: 3, organization: 50 };
/** Erasures that such an organization may start in a day. The event of one has up to 200 kB. */
export const MAX_ERASURES_BEYOND_LIMIT = 20;
const DAY_SECONDS = 24 * 60 * 60;

/** A sign-in, or a signed-in person who enters the current password. */
export type Attempt = { kind: "login"; address: string; email: string } | { kind: "password"; user_id: string };

// hashed, so that stored attempts reveal neither address nor account
const subject = (kind: string, ...values: string[]): string =>
  `${kind}:${createHash("sha256").update(JSON.stringify(values)).digest("base64url")}`;

/** The subjects that an attempt counts for, with their limits. */
function limitsFor(attempt: Attempt): { account: string; limits: Map<string, number> } {
  if (attempt.kind === "password") {
    const account = subject("password", attempt.user_id);
    return { account, limits: new Map([[account, MAX_PER_ACCOUNT]]) };
  }
  const network = networkOf(attempt.address);
  const [address, account] = [subject("address", network), subject("account", network, attempt.email)];
  const limits = new Map([
    [address, MAX_PER_ADDRESS],
    [account, MAX_PER_ACCOUNT],
  ]);
  return { account, limits };
}

/** Counts an attempt before its password is checked. It counts for 20 s, or longer after `markWrong`. Throws 429 `too_many_attempts`. */
export const countAttempt = (loginAttempts: LoginAttempts, attempt: Attempt): Promise<RecordedAttempt> =>
  count(loginAttempts, limitsFor(attempt).limits, "Too many sign-in attempts; try again later.");

/**
 * Counts a wrong link secret. Right ones are never refused, so nobody can lock out others behind the same address. Throws 429
 * `too_many_attempts`.
 */
export async function countWrongLink(loginAttempts: LoginAttempts, address: string): Promise<void> {
  const limits = new Map([[subject("link", networkOf(address)), MAX_PER_ADDRESS]]);
  await loginAttempts.markWrong(
    await count(loginAttempts, limits, "Too many links that do not exist; try again later."),
  );
}

/** Counts a sign-in of somebody whose organization may hardly write anything any more. Throws 429 `too_many_attempts`. */
export async function countSignInBeyondLimit(
  loginAttempts: LoginAttempts,
  { id, organization_id }: { id: string; organization_id: string },
): Promise<void> {
  const limits = new Map([
    [subject("person-beyond-limit", id), MAX_BEYOND_LIMIT.person],
    [subject("organization-beyond-limit", organization_id), MAX_BEYOND_LIMIT.organization],
  ]);
  const message =
    "The events of the organization take more than they may, so few sign-ins are allowed; try again later.";
  await loginAttempts.markWrong(await count(loginAttempts, limits, message));
}

/** Counts the start of an erasure by such an organization. Throws 429 `too_many_attempts`. */
export async function countErasureBeyondLimit(loginAttempts: LoginAttempts, organization_id: string): Promise<void> {
  const limits = new Map([[subject("erasures-beyond-limit", organization_id), MAX_ERASURES_BEYOND_LIMIT]]);
  const message =
    `The events of the organization take more than they may, so it may start ${MAX_ERASURES_BEYOND_LIMIT} erasures a day; ` +
    "try again later.";
  await loginAttempts.markWrong(await count(loginAttempts, limits, message, DAY_SECONDS));
}

async function count(
  loginAttempts: LoginAttempts,
  limits: Map<string, number>,
  message: string,
  windowSeconds = WINDOW_SECONDS,
): Promise<RecordedAttempt> {
  const { recorded, counts } = await loginAttempts.record([...limits.keys()], windowSeconds);
  const exceeded = counts.find((count) => count.attempts > limits.get(count.subject)!);
  if (!exceeded) return recorded;
  // a refused attempt must not extend the wait
  await loginAttempts.withdraw(recorded);
  throw new ApiError("too_many_attempts", message, {
    retryAfterMs: Math.max(1, exceeded.seconds_left) * 1000,
  });
}

/** Call after a correct password. Clears this attempt, and all others of the account. Attempts of others at the address stay. */
export const clearAttempts = (
  loginAttempts: LoginAttempts,
  attempt: Attempt,
  recorded: RecordedAttempt,
): Promise<void> => loginAttempts.clear(recorded, limitsFor(attempt).account);
