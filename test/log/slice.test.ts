import { afterAll, beforeAll, expect, test } from "vitest";
import { newId, streamOf } from "#events/ids.ts";
import { aLog, aStream, change, named } from "./log.ts";

let open: Awaited<ReturnType<typeof aLog>>;
beforeAll(async () => {
  open = await aLog();
});
afterAll(() => open.close());

type Asked = Parameters<(typeof open)["log"]["slice"]>[1];
const asked = (more: Partial<Asked> = {}): Asked => ({
  after: 0,
  limit: 500,
  stream: undefined,
  types: undefined,
  ...more,
});

/** Positions of all slices, with how many each had. */
async function slices(organization: string, more: Partial<Asked> = {}) {
  const positions: number[] = [];
  const sizes: number[] = [];
  for (let after = 0, on = true; on; after = positions.at(-1) ?? 0) {
    const { events, more: rest } = await open.log.slice(organization, asked({ ...more, after }));
    expect(events.every(({ organization_id }) => organization_id === organization)).toBe(true);
    positions.push(...events.map(({ position }) => position));
    sizes.push(events.length);
    on = rest;
  }
  return { positions, sizes };
}

test("an organization's events come in order, by pages, streams and types, and nobody else's", async () => {
  const [mine, theirs] = [newId(), newId()];
  const kept: Record<string, number[]> = { mine: [], theirs: [] };
  const stream = aStream();
  const append = async (organization: string, on: string, version = 1, event = named("A").event) => {
    const appended = await open.log.append(change(on, { organization, version, event }));
    if (appended.kind !== "committed") throw new Error(appended.kind);
    return appended.last;
  };
  for (let n = 1; n <= 5; n++) {
    kept.mine!.push(await append(mine, streamOf("organization", newId())));
    kept.theirs!.push(await append(theirs, streamOf("organization", newId())));
  }
  const ended = change(stream, { organization: mine });
  await open.log.append(ended);
  for (const limit of [1, 2, 3, 500])
    expect((await slices(theirs, { limit })).positions, String(limit)).toEqual(kept.theirs);
  expect((await slices(mine, { types: ["OrganizationCreated"], limit: 2 })).positions).toEqual(kept.mine);
  expect((await slices(mine, { stream })).positions).toEqual([11]);
  expect((await slices(mine, { stream, types: ["OrganizationCreated"] })).positions).toEqual([]);
  expect((await slices(theirs, { stream })).positions).toEqual([]);
  expect((await open.log.slice(mine, asked({ after: 11 }))).events).toEqual([]);
});

test("large events come in smaller slices, and none is left out", async () => {
  const organization = newId();
  const name = "w".repeat(1_000_000);
  for (let n = 0; n < 20; n++) await open.log.append(change(aStream(), { organization, event: named(name).event }));
  const huge = change(aStream(), { organization, event: named("w".repeat(9_000_000)).event });
  await open.log.append(huge);
  const { positions, sizes } = await slices(organization);
  expect(new Set(positions).size).toBe(21);
  expect(sizes).toEqual([8, 8, 4, 1]);
});
