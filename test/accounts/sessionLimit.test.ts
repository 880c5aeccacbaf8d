import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { openPeople } from "./people.ts";

const people = await openPeople();
const statusOf = async (token: string) => (await clientOf({ chat: people.api }, token)("GET", "/auth/me")).status;

test("the hundred and first session of a person ends the one that was unused for the longest time", async () => {
  const { id, email, password, token: oldest } = await people.join("viewer");
  const signIn = async () => (await people.login(email, password)).body.token as string;
  const second = await signIn();
  expect(await statusOf(second)).toBe(200);
  // rows without a session, because a hundred passwords take long to compare
  await people.service.db.query(
    `insert into read.sessions (id, organization_id, user_id, token_hash, epoch, expires_at, started_at)
     select gen_random_uuid(), organization_id, user_id, 'copy', epoch, expires_at, now() + interval '1 hour'
     from (select * from read.sessions where user_id = $1 limit 1) one, generate_series(1, 98)`,
    [id],
  );
  const newest = await signIn();
  await expect.poll(() => statusOf(oldest), { timeout: 10_000 }).toBe(401);
  expect([await statusOf(second), await statusOf(newest)]).toEqual([200, 200]);
});
