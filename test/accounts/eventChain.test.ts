import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople } from "./people.ts";

/* GET /api/events/histogram and /api/events/check: counts over time, and the check that no event was changed. */

const people = await openPeople();

const read = (path: string) => people.owner("GET", `/events/${path}`);
const total = ({ data }: { data: { count: number }[] }) => data.reduce((sum, { count }) => sum + count, 0);
async function newProject(...names: string[]): Promise<string> {
  const { id } = (await people.owner("POST", "/projects", { name: names[0] })).body;
  for (const name of names.slice(1)) await people.owner("PATCH", `/projects/${id}`, { name });
  return `project-${id}`;
}

/** All pages of a check. */
async function checkAll(query = "") {
  let checked = 0;
  const digests: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const { body }: { body: any } = await read(`check?after=${after}&${query}`);
    checked += body.checked;
    digests.push(...body.digests);
    if (body.broken) return { checked, digests, broken: body.broken };
    after = body.next_after;
  }
  return { checked, digests, broken: null };
}

describe("the histogram", () => {
  test("counts the events of the organization, a stream or a type, and excludes other organizations", async () => {
    const other = await people.signIn(await people.service.organization("Other"));
    const stream = await newProject("A", "B", "C");
    const all = (await read("histogram")).body;
    expect(total(all)).toBe((await readAllEvents(people.owner, "limit=500")).length);
    expect(all).toMatchObject({ complete: true, bar_seconds: expect.any(Number) });
    expect(all.data.length).toBeLessThanOrEqual(60);
    expect(total((await read(`histogram?stream=${stream}`)).body)).toBe(3);
    expect(total((await read(`histogram?stream=${stream}&type=ProjectChanged`)).body)).toBe(2);
    const foreign = (await other("GET", `/events/histogram?stream=${stream}`)).body;
    expect(foreign).toEqual({ bar_seconds: 1, complete: true, data: [] });
    expectRefusal(await read("histogram?type=Nonsense"), 400, undefined, "type");
    expectRefusal(await read("histogram?stream=nonsense"), 400, undefined, "stream");
  });

  test("uses bars of whole hours for events of several days, each with the cursor of its events", async () => {
    const stream = await newProject("Old", "Older", "Oldest");
    const days = "update log.events set recorded_at = '2026-01-01T05:30:00Z'::timestamptz + version * interval '1 day'";
    const before = await people.service.db.query<{ position: number; at: string }>(
      "select position, recorded_at::text as at from log.events where stream = $1",
      [stream],
    );
    await people.service.db.query(`${days} where stream = $1`, [stream]);
    const { bar_seconds, data } = (await read(`histogram?stream=${stream}`)).body;
    expect([bar_seconds, data.map(({ at, count }: any) => [at, count])]).toEqual([
      3_600,
      ["02", "03", "04"].map((day) => [`2026-01-${day}T05:00:00.000Z`, 1]),
    ]);
    const events = (await people.owner("GET", `/events?stream=${stream}&order=newest&after=${data[1].before}`)).body;
    expect(events.data.map(({ version }: any) => version)).toEqual([2, 1]);
    for (const { position, at } of before)
      await people.service.db.query("update log.events set recorded_at = $2 where position = $1", [position, at]);
  });
});

describe("the check of the chain", () => {
  test("confirms that all events are unchanged, up to the newest or a given event", async () => {
    const other = await people.signIn(await people.service.organization("Checked"));
    await newProject("Mine");
    const events = await readAllEvents(people.owner, "limit=500");
    expect(await checkAll()).toEqual({ checked: events.length, digests: expect.any(Array), broken: null });
    expect((await checkAll(`up_to=${events[2]!.cursor}`)).checked).toBe(3);
    const foreign = (await other("GET", "/events/check")).body;
    expect([foreign.broken, foreign.checked < events.length]).toEqual([null, true]);
    expectRefusal(await other("GET", `/events/check?after=${events[2]!.cursor}`), 400, undefined, "after");
    expectRefusal(await read("check?up_to=nonsense"), 400, undefined, "up_to");
  });

  test("returns a digest of each event that follows from the visible log and does not change after a deletion", async () => {
    const { id } = (await people.owner("POST", "/keys", { name: "Read" })).body;
    const events = await readAllEvents(people.owner, "limit=500");
    const digestOf = (event: any) => {
      const { stream, version, type, recorded_at, principal, request_id } = event;
      const { trace_id, command_id, data, sealed_hash } = event;
      const fields = [stream, version, type, recorded_at, principal, request_id, trace_id, command_id];
      return createHash("sha256")
        .update(JSON.stringify([...fields, data, sealed_hash]))
        .digest("hex");
    };
    const { digests } = await checkAll(`up_to=${events.at(-1)!.cursor}`);
    expect(digests).toEqual(events.map(digestOf));
    const sealed = events.find(({ type, stream }) => type === "KeyCreated" && stream === `key-${id}`)!;
    expect(sealed).toMatchObject({ erased: false, sealed_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await people.owner("DELETE", `/keys/${id}`);
    const [erased] = (await people.owner("GET", `/events?stream=key-${id}`)).body.data;
    expect(erased).toMatchObject({ erased: true, personal: null, sealed_hash: sealed.sealed_hash });
    expect((await checkAll(`up_to=${events.at(-1)!.cursor}`)).digests).toEqual(digests);
  });

  test("does not reveal the chain's own hashes, from which positions could be guessed", async () => {
    const rows = await people.service.db.query<{ hash: string }>("select encode(hash, 'hex') as hash from log.events");
    const text = JSON.stringify((await read("check")).body);
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter(({ hash }) => text.includes(hash))).toEqual([]);
  });

  test("names the first event that was changed, removed from its stream, or given another hash", async () => {
    const stream = await newProject("One", "Two", "Three");
    const { db } = people.service;
    const [row] = await db.query<{ position: number; data: string; hash: string }>(
      "select position, data, encode(hash, 'hex') as hash from log.events where stream = $1 and version = 2",
      [stream],
    );
    const change = (set: string) => db.query(`update log.events set ${set} where position = $1`, [row!.position]);
    const changed = { stream, version: 2, type: "ProjectChanged", problem: "It is not what was written." };
    for (const set of ["data = replace(data, '{', '{ ')", "sealed = sealed || '\\x00'::bytea"]) {
      const undo = set.startsWith("data")
        ? "data = replace(data, '{ ', '{')"
        : "sealed = substr(sealed, 1, length(sealed) - 1)";
      await change(set);
      expect((await checkAll()).broken).toMatchObject(changed);
      await change(undo);
    }
    await change("hash = sha256('other')");
    expect((await checkAll()).broken).toMatchObject(changed);
    await change(`hash = '\\x${row!.hash}'`);
    await change("version = 9");
    expect((await checkAll()).broken).toMatchObject({
      stream,
      version: 9,
      problem: expect.stringContaining("missing"),
    });
    await change("version = 2");
    expect((await checkAll()).broken).toBeNull();
  });
});
