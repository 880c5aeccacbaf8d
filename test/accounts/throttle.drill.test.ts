import { beforeEach, expect, test, vi } from "vitest";
import { clearAttempts, countAttempt } from "#http/auth/throttle.ts";
import { openLoginAttempts } from "#infra/postgres/loginAttempts.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openPeople } from "./people.ts";

/* Sign-in attempts are limited, in 15 minutes, to 50 per address and to 10 per account from one address. */

const people = await openPeople({ TRUST_PROXY: "127.0.0.1" });
beforeEach(async () => {
  await people.service.db.query("delete from ops.login_attempts");
});

const from = (address: string) => ({ "x-forwarded-for": address });
const wrong = (email: string, address: string) => people.login(email, "wrong", from(address));
/** Adds a member with this address to another organization: the password, and the id of the organization. */
async function addNamesake(email: string) {
  const credentials = await people.service.organization("Elsewhere");
  const { body } = await people.add({ email }, await people.signIn(credentials));
  return { namesake: body.password as string, organization: credentials.organization_id };
}
const statuses = async (tries: number, attempt: (n: number) => Promise<{ status: number }>) =>
  (await Promise.all(Array.from({ length: tries }, (_, n) => attempt(n)))).map(({ status }) => status);

test("after ten wrong passwords for an account from one address, only that address is refused until the attempts are 15 minutes old", async () => {
  const { email, password } = await people.join("viewer");
  const address = "198.51.100.1";
  expect(new Set(await statuses(10, () => wrong(email, address)))).toEqual(new Set([401]));
  const refused = await people.login(email, password, from(address));
  expectRefusal(refused, 429, "too_many_attempts");
  const wait = Number(refused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(14 * 60);
  expect(wait).toBeLessThanOrEqual(15 * 60);
  const other = await people.join("viewer");
  expect((await people.login(other.email, other.password, from(address))).status).toBe(200);
  expect((await people.login(email, password, from("203.0.113.1"))).status).toBe(200);
  await people.service.db.query("update ops.login_attempts set at = at - interval '15 minutes'");
  expect((await people.login(email, password, from(address))).status).toBe(200);
});

test("failed sign-ins from other addresses do not lock a member out of signing in or changing the password", async () => {
  const { email, password, call } = await people.join("viewer");
  expect(new Set(await statuses(40, (n) => wrong(email, `198.51.100.${n}`)))).toEqual(new Set([401]));
  await statuses(12, () => wrong(email, "203.0.113.2"));
  expect((await people.login(email, password, from("203.0.113.1"))).status).toBe(200);
  const body = { current_password: password, new_password: "a new long password" };
  expect((await call("POST", "/auth/password", body, from("203.0.113.2"))).status).toBe(200);
});

test("ten wrong current passwords of a signed-in person block further guesses from any address", async () => {
  const { password, call } = await people.join("viewer");
  const guess = (current_password: string, n: number) =>
    call("POST", "/auth/password", { current_password, new_password: "a new long password" }, from(`203.0.113.${n}`));
  expect(new Set(await statuses(10, (n) => guess("wrong", n)))).toEqual(new Set([400]));
  await people.service.db.query("update ops.login_attempts set at = at - interval '14 minutes'");
  expectRefusal(await guess(password, 77), 429, "too_many_attempts");
});

test("the addresses of one IPv6 /64 network count as one", async () => {
  const { email, password } = await people.join("viewer");
  expect(new Set(await statuses(10, (n) => wrong(email, `2001:db8:0:7::${n}`)))).toEqual(new Set([401]));
  expectRefusal(await people.login(email, password, from("2001:db8::7:1:2:3:4")), 429, "too_many_attempts");
  expect((await people.login(email, password, from("2001:db8:0:8::1"))).status).toBe(200);
});

test("a refused sign-in attempt does not extend the wait", async () => {
  const { email, password } = await people.join("viewer");
  const address = "198.51.100.2";
  await statuses(10, () => wrong(email, address));
  await people.service.db.query("update ops.login_attempts set at = at - interval '14 minutes'");
  for (let n = 0; n < 5; n++) {
    const refused = await people.login(email, password, from(address));
    expectRefusal(refused, 429, "too_many_attempts");
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  }
  await people.service.db.query("update ops.login_attempts set at = at - interval '1 minute'");
  expect((await people.login(email, password, from(address))).status).toBe(200);
});

test("after fifty failed sign-ins from one address for any accounts, only that address is refused", async () => {
  const address = "198.51.100.7";
  const tried = await statuses(50, (n) => wrong(`nobody${n}@example.com`, address));
  expect(new Set(tried)).toEqual(new Set([401]));
  const { email, password } = await people.join("viewer");
  expectRefusal(await people.login(email, password, from(address)), 429, "too_many_attempts");
  expect((await people.login(email, password, from("198.51.100.8"))).status).toBe(200);
});

test("parallel sign-in attempts count one by one", async () => {
  const { email } = await people.join("viewer");
  const tried = await statuses(30, () => wrong(email, "198.51.100.3"));
  expect(tried.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  expect(tried.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
});

test("a correct password resets the attempts of the account but not those of the address", async () => {
  const { email, password } = await people.join("viewer");
  for (let round = 0; round < 3; round++) {
    expect(new Set(await statuses(9, () => wrong(email, "198.51.100.9")))).toEqual(new Set([401]));
    expect((await people.login(email, password, from("198.51.100.9"))).status).toBe(200);
  }
  const kept = await people.service.db.query<{ subject: string }>("select subject from ops.login_attempts");
  expect(kept.filter(({ subject }) => subject.startsWith("address:"))).toHaveLength(27);
  expect(JSON.stringify(kept)).not.toMatch(/example|198\.51/);
});

test("a correct password of a member elsewhere with the same e-mail address does not reset the attempts", async () => {
  const { email, password } = await people.join("viewer");
  const { namesake, organization } = await addNamesake(email);
  const address = "198.51.100.10";
  expect(new Set(await statuses(9, () => wrong(email, address)))).toEqual(new Set([401]));
  const other = await people.login(email, namesake, from(address), { organization });
  expect(other.status).toBe(200);
  expect((await wrong(email, address)).status).toBe(401);
  expectRefusal(await people.login(email, password, from(address)), 429, "too_many_attempts");
});

test("a member elsewhere with the same e-mail address, whose own password is every guess, gets ten guesses like everybody", async () => {
  const { email, password } = await people.join("viewer");
  const { namesake, organization } = await addNamesake(email);
  const address = "198.51.100.12";
  const guess = (more = {}) => people.login(email, namesake, from(address), more);
  expect(new Set(await statuses(10, () => guess()))).toEqual(new Set([200]));
  expectRefusal(await guess(), 429, "too_many_attempts");
  expect((await people.login(email, password, from("198.51.100.13"))).status).toBe(200);
  await people.service.db.query("delete from ops.login_attempts");
  // a sign-in to one organization is no guess at another
  for (let n = 0; n < 12; n++) expect((await guess({ organization })).status).toBe(200);
});

test("a correct password leaves the attempt that somebody else began meanwhile at the same address", async () => {
  const { db } = people.service;
  const attempts = openLoginAttempts(db);
  const begin = async (email: string) => {
    const attempt = { kind: "login", address: "198.51.100.11", email } as const;
    return { attempt, recorded: await countAttempt(attempts, attempt) };
  };
  const own = await begin("own@example.com");
  const other = await begin("other@example.com");
  await clearAttempts(attempts, own.attempt, own.recorded);
  const marked = await attempts.markWrong(other.recorded);
  const readSubjects = async () =>
    (await db.query<{ subject: string }>("select subject from ops.login_attempts where is_wrong"))
      .map(({ subject }) => subject)
      .toSorted();
  expect(await readSubjects()).toEqual(other.recorded.subjects.toSorted());
  // the password was right after all, once the read models were current
  await clearAttempts(attempts, other.attempt, marked);
  expect(await readSubjects()).toEqual([]);
});

test("hundreds of strangers who try passwords do not delay a member's sign-in", async () => {
  const { email, password } = await people.join("viewer");
  let answered = 0;
  const strangers = Array.from({ length: 8 * 20 }, (_, n) =>
    wrong(`stranger-${n}@example.com`, `192.0.2.${n % 8}`).then(() => answered++),
  );
  // now all of them wait for their password hash
  await vi.waitFor(() => expect(answered).toBeGreaterThan(40), { timeout: 60_000 });
  expect((await people.login(email, password, from("203.0.113.9"))).status).toBe(200);
  expect(answered).toBeLessThan(100);
  await Promise.all(strangers);
});
