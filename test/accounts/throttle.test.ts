import { beforeAll, beforeEach, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openPeople, type People } from "./people.ts";

/* Signing in is throttled per address and per account (decisions: accounts): 50 and 10 tries in 15 minutes. */

let people: People;
beforeAll(async () => {
  people = await openPeople({ TRUST_PROXY: "127.0.0.1" });
});
beforeEach(async () => {
  await people.service.db.query("delete from ops.login_attempts");
});

const from = (address: string) => ({ "x-forwarded-for": address });
const wrong = (email: string, address: string) => people.login(email, "wrong", from(address));
const statuses = async (tries: number, attempt: (n: number) => Promise<{ status: number }>) =>
  (await Promise.all(Array.from({ length: tries }, (_, n) => attempt(n)))).map(({ status }) => status);

test("an account, from whatever addresses: the right password does not help either, until the tries are old", async () => {
  const { email, password } = await people.join("viewer");
  expect(new Set(await statuses(10, (n) => wrong(email, `198.51.100.${n}`)))).toEqual(new Set([401]));
  const refused = await people.login(email, password, from("203.0.113.1"));
  expectRefusal(refused, 429, "too_many_attempts");
  const wait = Number(refused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(14 * 60);
  expect(wait).toBeLessThanOrEqual(15 * 60);
  const other = await people.join("viewer");
  expect((await people.login(other.email, other.password, from("203.0.113.1"))).status).toBe(200);
  await people.service.db.query("update ops.login_attempts set at = at - interval '15 minutes'");
  expect((await people.login(email, password, from("203.0.113.1"))).status).toBe(200);
});

test("a try that is refused makes no later one wait longer", async () => {
  const { email, password } = await people.join("viewer");
  await statuses(10, (n) => wrong(email, `198.51.100.${n}`));
  await people.service.db.query("update ops.login_attempts set at = at - interval '14 minutes 55 seconds'");
  for (let n = 0; n < 5; n++) {
    const refused = await people.login(email, password, from("203.0.113.1"));
    expectRefusal(refused, 429, "too_many_attempts");
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(5);
  }
  await people.service.db.query("update ops.login_attempts set at = at - interval '5 seconds'");
  expect((await people.login(email, password, from("203.0.113.1"))).status).toBe(200);
});

test("an address, for whatever accounts: others are let in", async () => {
  const address = "198.51.100.7";
  const tried = await statuses(50, (n) => wrong(`nobody${n}@example.com`, address));
  expect(new Set(tried)).toEqual(new Set([401]));
  const { email, password } = await people.join("viewer");
  expectRefusal(await people.login(email, password, from(address)), 429, "too_many_attempts");
  expect((await people.login(email, password, from("198.51.100.8"))).status).toBe(200);
});

test("tries at the same moment count each", async () => {
  const { email } = await people.join("viewer");
  const tried = await statuses(30, (n) => wrong(email, `198.51.100.${n}`));
  expect(tried.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  expect(tried.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
});

test("the right password clears the account; the address goes on with what it has", async () => {
  const { email, password } = await people.join("viewer");
  for (let round = 0; round < 3; round++) {
    expect(new Set(await statuses(9, () => wrong(email, "198.51.100.9")))).toEqual(new Set([401]));
    expect((await people.login(email, password, from("198.51.100.9"))).status).toBe(200);
  }
  const kept = await people.service.db.query<{ subject: string }>("select subject from ops.login_attempts");
  expect(kept.filter(({ subject }) => subject.startsWith("address:"))).toHaveLength(27);
  expect(JSON.stringify(kept)).not.toMatch(/example|198\.51/);
});
