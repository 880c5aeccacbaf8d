import { beforeAll, describe, expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { everything, listen, type Shown } from "./audit.ts";
import { openPeople, type People } from "./people.ts";

/* GET /api/events (decisions: accounts): an organization's slice of the log, in pages and as it grows. */

let people: People;
let organization: string;
beforeAll(async () => {
  people = await openPeople();
  organization = people.service.credentials.organization_id;
});

const read = (query = "") => people.owner("GET", `/events${query}`);
const positions = (events: Shown[]) => events.map(({ position }) => position);
const inLog = async (condition = "true") =>
  (
    await people.service.db.query<{ position: number }>(
      `select position from log.events where organization_id = $1 and ${condition} order by position`,
      [organization],
    )
  ).map(({ position }) => position);
const soon = { timeout: 10_000, interval: 50 };
const token = async (admin = people.service.credentials.admin) =>
  (await people.login(admin.email, admin.password)).body.token as string;

describe("in pages", () => {
  test("every event of the organization is there once, in order, and none of another's", async () => {
    const other = await people.service.organization("Other");
    const stranger = await people.signIn(other);
    for (let n = 0; n < 3; n++) {
      await people.complete(say(`Mine ${n}`));
      await clientOf(people.service, other.api_key)("POST", "/chat/completions", say(`Theirs ${n}`));
    }
    for (const limit of [1, 7, 500])
      expect(positions(await everything(people.owner, `limit=${limit}`))).toEqual(await inLog());
    const theirs = await everything(stranger);
    expect(JSON.stringify(theirs)).not.toContain("Mine");
    expect(JSON.stringify(theirs)).toContain("Theirs 2");
    const mine = new Set(await inLog());
    expect(positions(theirs).filter((position) => mine.has(position))).toEqual([]);
  });

  test("an event says who asked for what, with the words that were said", async () => {
    const { headers } = await people.complete(say("What was said"));
    const stream = `thread-${headers.get("x-thread-id")}`;
    const { data, next_after, has_more } = (await read(`?stream=${stream}`)).body;
    expect(data.map(({ type }: Shown) => type)).toEqual(["TurnStarted", "TurnCompleted"]);
    expect(data[0]).toMatchObject({
      stream,
      version: 1,
      principal: expect.stringMatching(/^key:/),
      request_id: headers.get("x-request-id"),
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      recorded_at: expect.stringMatching(/Z$/),
      data: { model: "offline/echo", streamed: false },
      personal: { input: { prompt: { messages: [{ text: "What was said" }] } } },
      erased: false,
    });
    expect(data[1]).toMatchObject({ principal: "system", personal: { said: { text: "What was said" } } });
    expect({ next_after, has_more }).toEqual({ next_after: data[1].position, has_more: false });
    expect((await read(`?after=${next_after}&stream=${stream}`)).body).toEqual({
      data: [],
      next_after,
      has_more: false,
    });
  });

  test("types are filtered, and what was deleted is said to be gone", async () => {
    const { headers } = await people.complete(say("Forgotten words"));
    const thread = headers.get("x-thread-id");
    await clientOf(people.service, people.service.credentials.api_key)("DELETE", `/threads/${thread}`);
    const { data } = (await read(`?stream=thread-${thread}&type=TurnStarted,ThreadDeleted`)).body;
    expect(data).toMatchObject([
      { type: "TurnStarted", personal: null, erased: true },
      { type: "ThreadDeleted", personal: null, erased: false },
    ]);
    expect(JSON.stringify(await everything(people.owner))).not.toContain("Forgotten words");
    const started = await everything(people.owner, "type=TurnStarted&limit=2");
    expect(positions(started)).toEqual(await inLog("type = 'TurnStarted'"));
  });

  test("no credential is among them", async () => {
    const { key } = (await people.owner("POST", "/keys", { name: "K" })).body;
    await people.owner("PUT", "/secrets/a_secret", { value: "very-secret-value" });
    await people.owner("PUT", "/providers/acme", { api_key: "sk-acme-secret", base_url: "https://models.example/v1" });
    const { password } = await people.join("viewer");
    const shown = JSON.stringify(await everything(people.owner));
    for (const secret of [key, "very-secret-value", "sk-acme-secret", password, "$argon2id", "_hash", "sealed_"])
      expect(shown).not.toContain(secret);
    expect(shown).toContain('"key_hint"');
  });

  test.each([
    ["after=-1", "after"],
    ["after=x", "after"],
    ["after=1e3", "after"],
    ["after=1&after=2", "after"],
    ["after=99999999999999999999", "after"],
    ["stream=x", "stream"],
    ["stream=thread-1", "stream"],
    ["type=Nothing", "type"],
    ["type=TurnStarted,", "type"],
    ["type=%00", "type"],
  ])("%s is refused", async (query, param) => expectRefusal(await read(`?${query}`), 400, undefined, param));

  test("a stream of another organization is empty like one that is not there", async () => {
    const other = await people.service.organization("Streams");
    const theirs = (await read(`?stream=organization-${other.organization_id}`)).body;
    expect(theirs).toEqual((await read(`?stream=organization-${UNKNOWN}`)).body);
    expect(theirs).toEqual({ data: [], next_after: 0, has_more: false });
  });
});

describe("as it grows", () => {
  const follow = async (query = "", headers: Record<string, string> = {}, by?: string) =>
    listen(`${people.api}/events${query}`, by ?? (await token()), headers);

  test("events come as they happen, of this organization alone", async () => {
    const stranger = await people.service.organization("Noisy");
    const tail = await follow("?type=TurnStarted");
    expect([tail.status, tail.type]).toEqual([200, "text/event-stream; charset=utf-8"]);
    await clientOf(people.service, stranger.api_key)("POST", "/chat/completions", say("Noise"));
    await people.complete(say("News"));
    await expect.poll(() => tail.heard().length, soon).toBe(1);
    const [event] = tail.heard();
    expect(event!.personal.input.prompt.messages[0].text).toBe("News");
    expect(tail.raw()).toContain(`id: ${event!.position}\nevent: TurnStarted\ndata: `);
    expect((await read(`?after=${event!.position - 1}&limit=1`)).body.data).toEqual([event]);
    await tail.close();
  });

  test("whoever comes back goes on after the last event, without a gap or one twice", async () => {
    const from = (await everything(people.owner)).at(-1)!.position;
    const heard: number[] = [];
    let last = String(from);
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 4; n++) await people.complete(say(`Round ${round}`));
      const tail = await follow("?after=1", { "last-event-id": last });
      await expect.poll(() => tail.heard().length, soon).toBeGreaterThan(2);
      await tail.close();
      heard.push(...positions(tail.heard()));
      last = String(heard.at(-1));
    }
    const rest = await follow(`?after=${last}`);
    const expected = async () => (await inLog()).filter((position) => position > from);
    await expect
      .poll(async () => [...heard, ...positions(rest.heard())].length === (await expected()).length, soon)
      .toBe(true);
    expect([...heard, ...positions(rest.heard())]).toEqual(await expected());
    await rest.close();
    const bad = await follow("", { "last-event-id": "x" });
    expect(bad.status).toBe(400);
  });

  test("it ends with the session, with the role, and with the member; nothing is told after that", async () => {
    const ends: [string, (admin: Awaited<ReturnType<People["join"]>>) => Promise<unknown>][] = [
      ["signed out", ({ call }) => call("POST", "/auth/logout")],
      ["demoted", ({ id }) => people.owner("PATCH", `/members/${id}`, { role: "builder" })],
      ["removed", ({ id }) => people.owner("DELETE", `/members/${id}`)],
    ];
    for (const [how, end] of ends) {
      const admin = await people.join("admin");
      const tail = await follow("?type=TurnStarted", {}, admin.token);
      await end(admin);
      await people.complete(say(`After: ${how}`));
      await tail.ended;
      expect(tail.heard(), how).toEqual([]);
    }
  });

  test("only owners and admins are let in, and no key", async () => {
    const builder = await people.join("builder");
    const tail = await follow("", {}, builder.token);
    expect(tail.status).toBe(403);
    expectRefusal(await people.key("GET", "/events"), 403, "session_required");
  });
});
