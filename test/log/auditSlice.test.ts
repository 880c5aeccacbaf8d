import { afterAll, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { openTestLog, aStream, change, named } from "./log.ts";

const open = await openTestLog();
afterAll(() => open.close());

type SliceQuery = Parameters<(typeof open)["log"]["slice"]>[1];
const query = (more: Partial<SliceQuery> = {}): SliceQuery => ({
  after: 0,
  limit: 500,
  stream: undefined,
  types: undefined,
  ...more,
});

/** The positions of all slices, and the size of each slice. */
async function slices(organization: string, more: Partial<SliceQuery> = {}) {
  const positions: number[] = [];
  const sizes: number[] = [];
  for (let after = 0, on = true; on; after = positions.at(-1) ?? 0) {
    const { events, more: rest } = await open.log.slice(organization, query({ ...more, after }));
    expect(events.every(({ organization_id }) => organization_id === organization)).toBe(true);
    positions.push(...events.map(({ position }) => position));
    sizes.push(events.length);
    on = rest;
  }
  return { positions, sizes };
}

test("an audit slice returns only the organization's events in order, by page, stream and type", async () => {
  const [mine, theirs] = [newId(), newId()];
  const kept: Record<string, number[]> = { mine: [], theirs: [] };
  const stream = aStream();
  const append = async (organization: string, on: string, version = 1, event = named("A").event) => {
    const appended = await open.log.append(change(on, { organization, version, event }));
    if (appended.kind !== "committed") throw new Error(appended.kind);
    return appended.last;
  };
  for (let n = 1; n <= 5; n++) {
    kept.mine!.push(await append(mine, streamName("organization", newId())));
    kept.theirs!.push(await append(theirs, streamName("organization", newId())));
  }
  const ended = change(stream, { organization: mine });
  await open.log.append(ended);
  for (const limit of [1, 2, 3, 500])
    expect((await slices(theirs, { limit })).positions, String(limit)).toEqual(kept.theirs);
  expect((await slices(mine, { types: ["OrganizationCreated"], limit: 2 })).positions).toEqual(kept.mine);
  expect((await slices(mine, { stream })).positions).toEqual([11]);
  expect((await slices(mine, { stream, types: ["OrganizationCreated"] })).positions).toEqual([]);
  expect((await slices(theirs, { stream })).positions).toEqual([]);
  expect((await open.log.slice(mine, query({ after: 11 }))).events).toEqual([]);
  const backwards = await open.log.slice(theirs, query({ after: kept.theirs![4]!, newest_first: true, limit: 3 }));
  expect(backwards.events.map(({ position }) => position)).toEqual(kept.theirs!.slice(1, 4).toReversed());
  expect(backwards.more).toBe(true);
});

test("large events come in smaller slices, and none is skipped", async () => {
  const organization = newId();
  const name = "w".repeat(1_000_000);
  for (let n = 0; n < 20; n++) await open.log.append(change(aStream(), { organization, event: named(name).event }));
  const huge = change(aStream(), { organization, event: named("w".repeat(9_000_000)).event });
  await open.log.append(huge);
  const { positions, sizes } = await slices(organization);
  expect(new Set(positions).size).toBe(21);
  expect(sizes).toEqual([8, 8, 4, 1]);
});
