import { expect, test } from "vitest";
import { createHeadReader } from "./heads.ts";

const STREAM = "organization-o";
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`member-${n}`, { active: true, email_claim: "a" }]));

/** A database with one stream per position, and the number of states that it has sent. */
function openHeads(maxKept?: number) {
  const streams = new Map<string, { position: number; state_version: number; state: object }>();
  let sent = 0;
  const query = async (_: string, [wanted, known = [], positions = [], versions = []]: any[]) =>
    wanted.flatMap((stream: string) => {
      const found = streams.get(stream);
      if (!found) return [];
      const nth = known.indexOf(stream);
      const isKnown = nth !== -1 && positions[nth] === found.position && versions[nth] === found.state_version;
      if (!isKnown) sent += 1;
      return [{ ...found, stream, version: 1, due_at: null, state: isKnown ? null : JSON.stringify(found.state) }];
    });
  return {
    heads: createHeadReader({ query }, maxKept),
    set: (stream: string, position: number, state: object, state_version = 1) =>
      void streams.set(stream, { position, state_version, state }),
    sent: () => sent,
  };
}

test("a large state is read once per change, and a change is seen by the next read", async () => {
  const log = openHeads();
  log.set(STREAM, 1, members(1_000));
  const read = async () => (await log.heads([STREAM])).get(STREAM)!;
  const first = await read();
  const again = await read();
  expect(log.sent()).toBe(1);
  expect(again.state).toBe(first.state);
  expect([first.position, again.position, Object.keys(again.state as object).length]).toEqual([1, 1, 1_000]);
  log.set(STREAM, 2, members(999));
  const changed = await read();
  expect([changed.position, Object.keys(changed.state as object).length]).toEqual([2, 999]);
  log.set(STREAM, 2, members(998), 2);
  expect(Object.keys((await read()).state as object)).toHaveLength(998);
});

test("small states, and those beyond the limit, are read each time", async () => {
  const small = openHeads();
  small.set(STREAM, 1, members(1));
  for (let n = 0; n < 3; n++) await small.heads([STREAM]);
  expect(small.sent()).toBe(3);

  const size = JSON.stringify(members(1_000)).length;
  const log = openHeads(2 * size);
  const names = ["a", "b", "c"];
  for (const [n, name] of names.entries()) log.set(name, n + 1, members(1_000));
  for (const name of ["a", "b", "a", "c", "a"]) await log.heads([name]);
  expect(log.sent()).toBe(3);
  await log.heads(names);
  expect(log.sent()).toBe(4);
});
