import fc from "fast-check";
import { expect, test } from "vitest";
import type { Decider } from "#events/decider.ts";
import type { NewEvent } from "#events/define.ts";
import { OrganizationCreated, ScriptedToolsSwitched } from "#events/organization.ts";
import type { StreamHead } from "#events/ports.ts";
import { PasswordSet, SubstituteNamed, UserChanged, UserRegistered, UserRemoved } from "#events/user.ts";
import { organization } from "./deciders/organization.ts";
import { readState, streamStates } from "./states.ts";

const AT = "2026-01-01T00:00:00.000Z";
const person = { email: "a@example.com", name: "A", password_hash: "h" };
const created = OrganizationCreated.of({ organization_id: "o1" }, { name: "A" });
const user = fc.integer({ min: 0, max: 5 }).map((n) => `u${n}`);
const event: fc.Arbitrary<NewEvent> = fc.oneof(
  user.map((user_id) => UserRegistered.of({ user_id, role: "viewer", email_claim: user_id }, person)),
  user.map((user_id) => UserChanged.of({ user_id, role: "admin", epoch: 2 }, {})),
  user.map((user_id) => PasswordSet.of({ user_id, epoch: 3 }, { password_hash: "h" })),
  user.map((user_id) => UserRemoved.of({ user_id, email_claim: user_id })),
  user.map((user_id) => SubstituteNamed.of({ user_id, substitute_id: "u0", from: AT, until: AT })),
  fc.boolean().map((enabled) => ScriptedToolsSwitched.of({ enabled })),
  fc.constant(created),
);

/** The state of a head that an earlier version of the decider wrote. */
async function foldAgain(decider: Decider<any, any, any>, events: NewEvent[]): Promise<unknown> {
  const head = { stream: "organization-o1", version: events.length, state: {}, state_version: 0 };
  return (await readState({ read: async () => events as never }, head as unknown as StreamHead, decider)).state;
}

test("members that are folded again are the same, in the same order, as those that were kept", async () => {
  const property = fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
    const kept = events.reduce((state, one) => organization.evolve(state, one as never), organization.initial);
    expect(JSON.stringify(await foldAgain(organization, events))).toBe(JSON.stringify(kept));
    expect(organization.initial).toEqual({ status: "absent" });
  });
  await fc.assert(property);
});

test("the members of a large organization are folded again without a copy of all of them at each event", async () => {
  const registered = (n: number) =>
    UserRegistered.of({ user_id: `u${n}`, role: "viewer", email_claim: `c${n}` }, person);
  const events = [created, ...Array.from({ length: 10_000 }, (_, n) => registered(n))];
  const start = process.threadCpuUsage();
  const state = (await foldAgain(organization, events)) as { members: object };
  const { user } = process.threadCpuUsage(start);
  expect(Object.keys(state.members)).toHaveLength(10_000);
  // copies took a hundred times as long
  expect(user / 1_000).toBeLessThan(1_000);
});

test("large states are forgotten before they fill the memory, the oldest first", async () => {
  const read: string[] = [];
  const heads = async (streams: string[]) => (read.push(...streams), new Map<string, StreamHead>());
  const states = streamStates({ heads, read: async () => [] }, { entries: 10, size: 25_000 });
  const load = (stream: string) => states.load(stream, organization, { fresh: false });
  const remember = (stream: string, size: number, organization = "o1") =>
    states.remember(
      stream,
      { version: 1, state: { status: "active", members: { a: "x".repeat(size) } } },
      organization,
    );
  for (const stream of ["a", "b"]) remember(stream, 10_000);
  expect(await Promise.all([load("a"), load("b")])).toMatchObject([{ remembered: true }, { remembered: true }]);
  remember("c", 10_000);
  await Promise.all(["a", "b", "c"].map(load));
  expect(read.splice(0)).toEqual(["a"]);
  remember("huge", 30_000);
  for (let n = 0; n < 20; n++) remember(`small ${n}`, 1);
  await Promise.all(["huge", "c", "small 9", "small 10", "small 19"].map(load));
  expect(read.splice(0)).toEqual(["huge", "c", "small 9"]);
  remember("other", 5_000, "o2");
  for (let n = 0; n < 20; n++) remember(`large ${n}`, 2_000);
  await Promise.all(["other", "large 19"].map(load));
  expect(read).toEqual([]);
});
