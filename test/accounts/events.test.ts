import { describe, expect, onTestFinished, test } from "vitest";
import { PRINCIPAL_SQL } from "#infra/postgres/decode.ts";
import { clientOf, say } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { SOON } from "../soon.ts";
import { listen, readAllEvents, type AuditEvent } from "./audit.ts";
import { openPeople, type People } from "./people.ts";

/* GET /api/events: an organization's slice of the log, in pages and by SSE. */

const people = await openPeople();
const organization = people.service.credentials.organization_id;

const read = (query = "") => people.owner("GET", `/events${query}`);
const toCursor = (position: number) => people.service.opened.keyring.sealNumber(`events:${organization}`, position);
const cursors = (events: AuditEvent[]) => events.map(({ cursor }) => cursor);
/** Positions of the organization's events. */
const positionsInLog = async (condition = "true") =>
  (
    await people.service.db.query<{ position: number }>(
      `select position from log.events where organization_id = $1 and ${condition} order by position`,
      [organization],
    )
  ).map(({ position }) => position);
const inLog = async (condition?: string) => (await positionsInLog(condition)).map(toCursor);
const token = async (admin = people.service.credentials.admin) =>
  (await people.login(admin.email, admin.password)).body.token as string;

describe("the pages of the audit log", () => {
  test("contain every event of the organization once, in order, and no events of other organizations", async () => {
    const other = await people.service.organization("Other");
    const stranger = await people.signIn(other);
    for (let n = 0; n < 3; n++) {
      await people.complete(say(`Mine ${n}`));
      await clientOf(people.service, other.api_key)("POST", "/chat/completions", say(`Theirs ${n}`));
    }
    for (const limit of [1, 7, 500])
      expect(cursors(await readAllEvents(people.owner, `limit=${limit}`))).toEqual(await inLog());
    const strangerEvents = await readAllEvents(stranger);
    expect(JSON.stringify(strangerEvents)).not.toContain("Mine");
    expect(JSON.stringify(strangerEvents)).toContain("Theirs 2");
    const mine = new Set(await inLog());
    expect(cursors(strangerEvents).filter((cursor) => mine.has(cursor))).toEqual([]);
  });

  test("contain the principal, the request and the personal fields of each event", async () => {
    const { headers } = await people.complete(say("What was said"));
    const stream = `thread-${headers.get("x-thread-id")}`;
    const { data, next_after, has_more } = (await read(`?stream=${stream}`)).body;
    expect(data.map(({ type }: AuditEvent) => type)).toEqual(["TurnStarted", "TurnCompleted"]);
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
    expect({ next_after, has_more }).toEqual({ next_after: data[1].cursor, has_more: false });
    expect((await read(`?after=${next_after}&stream=${stream}`)).body).toEqual({
      data: [],
      next_after,
      has_more: false,
    });
  });

  test("can be filtered by type, and mark deleted personal fields as erased", async () => {
    const { headers } = await people.complete(say("Forgotten words"));
    const thread = headers.get("x-thread-id");
    await clientOf(people.service, people.service.credentials.api_key)("DELETE", `/threads/${thread}`);
    const { data } = (await read(`?stream=thread-${thread}&type=TurnStarted,ThreadDeleted`)).body;
    expect(data).toMatchObject([
      { type: "TurnStarted", personal: null, erased: true },
      { type: "ThreadDeleted", personal: null, erased: false },
    ]);
    expect(JSON.stringify(await readAllEvents(people.owner))).not.toContain("Forgotten words");
    const started = await readAllEvents(people.owner, "type=TurnStarted&limit=2");
    expect(cursors(started)).toEqual(await inLog("type = 'TurnStarted'"));
  });

  test("contain no credentials", async () => {
    const { key } = (await people.owner("POST", "/keys", { name: "K" })).body;
    await people.owner("PUT", "/secrets/a_secret", { value: "very-secret-value" });
    await people.owner("PUT", "/providers/acme", { api_key: "sk-acme-secret", base_url: "https://models.example/v1" });
    const { password } = await people.join("viewer");
    const shown = JSON.stringify(await readAllEvents(people.owner));
    for (const secret of [key, "very-secret-value", "sk-acme-secret", password, "$argon2id"])
      expect(shown).not.toContain(secret);
    // each event has the hash of its sealed bytes, which a reader compares
    expect(shown.replaceAll('"sealed_hash"', "")).not.toMatch(/_hash|sealed_/);
    expect(shown).toContain('"key_hint"');
  });

  test("have cursors that hide the activity of others and work only for their organization", async () => {
    const { data } = (await read("?limit=20")).body;
    for (const { cursor } of data) expect(cursor).toMatch(/^[\w-]{22}$/);
    expect(data[0]).not.toHaveProperty("position");
    const stranger = await people.signIn(await people.service.organization("Nosy"));
    expectRefusal(await stranger("GET", `/events?after=${data[0].cursor}`), 400, undefined, "after");
  });

  test("accept no number but 0, so guessing numbers reveals nothing of others", async () => {
    expect((await read(`?after=0&limit=1`)).body.data).toEqual((await read("?limit=1")).body.data);
    const newest = (await positionsInLog()).at(-1)!;
    const answers = [];
    for (let number = Math.max(1, newest - 40); number <= newest + 1; number++)
      answers.push((await read(`?after=${number}&limit=1`)).status);
    expect(new Set(answers)).toEqual(new Set([400]));
  });

  test("accept positions from earlier releases if they belong to the organization's events", async () => {
    const [first, second, later] = await positionsInLog();
    const shown = (last: number) =>
      people.service.db.query("update log.numbered_cursors set last_position = $1", [last]);
    await shown(second!);
    onTestFinished(async () => void (await shown(0)));
    expectRefusal(await read(`?after=${later}`), 400, undefined, "after");
    const next = (await read(`?after=${first}&limit=1`)).body.data;
    expect(cursors(next)).toEqual([toCursor(second!)]);
    const others = await people.service.organization("Elsewhere");
    const [theirs] = await people.service.db.query<{ position: number }>(
      "select position from log.events where organization_id = $1 limit 1",
      [others.organization_id],
    );
    for (const position of [theirs!.position, 999_999_999])
      expectRefusal(await read(`?after=${position}`), 400, undefined, "after");
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
    ["principal=person:1", "principal"],
    ["principal=system", "principal"],
    [`principal=agent:${UNKNOWN}`, "principal"],
    [`principal=key:${UNKNOWN}%00`, "principal"],
    ["command=", "command"],
    ["command=a%00", "command"],
  ])("are refused for ?%s", async (query, param) => expectRefusal(await read(`?${query}`), 400, undefined, param));

  test("can be filtered by actor, together with stream and type, even after the actor's deletion", async () => {
    const member = await people.join("builder");
    const who = `person:${member.id}`;
    await member.call("PUT", "/secrets/by_builder", { value: "a secret value" });
    await member.call("PUT", "/secrets/by_builder", { value: "another value" });
    await people.owner("PUT", "/secrets/by_owner", { value: "a secret value" });
    await people.owner("DELETE", `/members/${member.id}`);
    const caused = await readAllEvents(people.owner, `principal=${who}&limit=2`);
    expect(cursors(caused)).toEqual(await inLog(`meta like '%"${who}"%'`));
    expect(new Set(caused.map(({ principal }) => principal))).toEqual(new Set([who]));
    expect(caused.filter(({ type }) => type === "SecretSet")).toHaveLength(2);
    const [first] = caused;
    const same = (await read(`?principal=${who}&stream=${first!.stream}&type=${first!.type}&order=newest`)).body.data;
    expect(same).not.toEqual([]);
    expect(caused).toEqual(expect.arrayContaining(same));
    const { data } = (await read(`/histogram?principal=${who}`)).body;
    expect(data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(caused.length);
    // an id in capitals is the same id, and a person of no organization caused nothing here
    expect((await read(`?principal=${who.toUpperCase().replace("PERSON", "person")}`)).body.data).toEqual(caused);
    const stranger = await people.signIn(await people.service.organization("Curious"));
    expect((await stranger("GET", `/events?principal=${who}`)).body.data).toEqual([]);
  });

  test("can be filtered by the command that committed them, even after its outcome has expired", async () => {
    const { db } = people.service;
    await people.owner("PUT", "/secrets/by_command", { value: "a secret value" });
    const { command_id } = (await read("?type=SecretSet&order=newest&limit=1")).body.data[0];
    const found = async () => (await read(`?command=${command_id}`)).body.data;
    const events = await found();
    expect(cursors(events)).toEqual(await inLog(`command_id = '${command_id}'`));
    const { data } = (await read(`/histogram?command=${command_id}`)).body;
    expect(data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(events.length);
    await db.query("delete from log.commands where command_id = $1", [command_id]);
    expect(await found()).toEqual(events);
    const stranger = await people.signIn(await people.service.organization("Stranger"));
    expect((await stranger("GET", `/events?command=${command_id}`)).body.data).toEqual([]);
    expect((await read("?command=nobody-sent-this")).body.data).toEqual([]);
  });

  test("filtered by a person are found by an index that excludes the service's own events", async () => {
    const { db } = people.service;
    const [index] = await db.query<{ valid: boolean; predicate: string }>(
      `select indisvalid as valid, pg_get_expr(indpred, indrelid) as predicate from pg_index
       where indexrelid = 'log.events_by_principal'::regclass`,
    );
    expect(index!.valid).toBe(true);
    expect(index!.predicate).toContain("IS NOT NULL");
    const plan = await db.query<{ "QUERY PLAN": string }>(
      `explain select position from log.events where organization_id = '${organization}' and ${PRINCIPAL_SQL} = 'person:${UNKNOWN}'
       and position > 0 order by position limit 10`,
    );
    expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).toContain("events_by_principal");
    expect(await inLog(`${PRINCIPAL_SQL} = 'system'`)).toEqual([]);
    expect(await inLog(`meta like '{"principal":"system"%'`)).not.toEqual([]);
  });

  test("of another organization's stream are empty, as for an unknown stream", async () => {
    const other = await people.service.organization("Streams");
    const strangerEvents = (await read(`?stream=organization-${other.organization_id}`)).body;
    expect(strangerEvents).toEqual((await read(`?stream=organization-${UNKNOWN}`)).body);
    expect(strangerEvents).toEqual({ data: [], next_after: toCursor(0), has_more: false });
  });
});

describe("the SSE stream of the audit log", () => {
  const follow = async (query = "", headers: Record<string, string> = {}, by?: string) =>
    listen(`${people.api}/events${query}`, by ?? (await token()), headers);

  test("sends events of this organization as they happen, and no others", async () => {
    const stranger = await people.service.organization("Noisy");
    const tail = await follow("?type=TurnStarted");
    expect([tail.status, tail.type]).toEqual([200, "text/event-stream; charset=utf-8"]);
    await clientOf(people.service, stranger.api_key)("POST", "/chat/completions", say("Noise"));
    await people.complete(say("News"));
    await expect.poll(() => tail.received().length, SOON).toBe(1);
    const [event] = tail.received();
    expect(event!.personal.input.prompt.messages[0].text).toBe("News");
    expect(tail.raw()).toContain(`id: ${event!.cursor}\nevent: TurnStarted\ndata: `);
    const before = (await inLog()).findLast((_, at, all) => all[at + 1] === event!.cursor);
    expect((await read(`?after=${before}&limit=1`)).body.data).toEqual([event]);
    await tail.close();
  });

  test("sends the events of one person, and not those of others", async () => {
    const member = await people.join("builder");
    const tail = await follow(`?principal=person:${member.id}&type=SecretSet`);
    await people.owner("PUT", "/secrets/of_owner", { value: "a secret value" });
    expect((await member.call("PUT", "/secrets/of_builder", { value: "a secret value" })).status).toBe(200);
    await people.owner("PUT", "/secrets/of_owner", { value: "another value" });
    await expect.poll(() => tail.received().length, SOON).toBe(1);
    expect(tail.received()).toMatchObject([{ principal: `person:${member.id}` }]);
    await tail.close();
  });

  test("resumes after Last-Event-ID without gaps or repetitions", async () => {
    const from = (await readAllEvents(people.owner)).at(-1)!.cursor;
    const received: string[] = [];
    let last = from;
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 4; n++) await people.complete(say(`Round ${round}`));
      const tail = await follow("?after=0", { "last-event-id": last });
      await expect.poll(() => tail.received().length, SOON).toBeGreaterThan(2);
      await tail.close();
      received.push(...cursors(tail.received()));
      last = received.at(-1)!;
    }
    const rest = await follow(`?after=${last}`);
    const expected = async () => (await inLog()).slice((await inLog()).indexOf(from) + 1);
    await expect
      .poll(async () => [...received, ...cursors(rest.received())].length === (await expected()).length, SOON)
      .toBe(true);
    expect([...received, ...cursors(rest.received())]).toEqual(await expected());
    await rest.close();
    const bad = await follow("", { "last-event-id": "x" });
    expect(bad.status).toBe(400);
  });

  test("ends when the admin signs out, is demoted or is removed, and sends nothing afterwards", async () => {
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
      expect(tail.received(), how).toEqual([]);
    }
  });
});

describe("the order and the form of the audit log", () => {
  test("newest first, pages continue to older events without a gap", async () => {
    const seen: string[] = [];
    for (let [after, more] = ["", true]; more; ) {
      const { body } = await read(`?order=newest&limit=7&after=${after}`);
      seen.push(...cursors(body.data));
      [after, more] = [body.next_after, body.has_more];
    }
    expect(seen).toEqual((await inLog()).toReversed());
    const { data } = (await read("?order=newest&type=OrganizationCreated")).body;
    expect(data).toMatchObject([{ type: "OrganizationCreated" }]);
    const none = (await read("?order=newest&type=TriggerDisabled")).body;
    expect(none).toMatchObject({ data: [], has_more: false });
    expect((await read(`?order=newest&after=${none.next_after}&limit=1`)).body.data).toHaveLength(1);
    expectRefusal(await read("?order=oldest,newest"), 400, undefined, "order");
  });

  test("a file of JSON lines contains every matching event", async () => {
    const lines = async (query: string) => {
      const { text, headers } = await read(`?format=jsonl${query}`);
      expect(headers.get("content-type")).toBe("application/x-ndjson");
      expect(headers.get("content-disposition")).toContain("events.jsonl");
      return text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    };
    const all = await lines("");
    expect(cursors(all)).toEqual(await inLog());
    expect(all).toEqual(await readAllEvents(people.owner));
    expect((await lines("&type=KeyCreated")).every(({ type }) => type === "KeyCreated")).toBe(true);
    expect(cursors(await lines(`&after=${all[2].cursor}`))).toEqual(cursors(all).slice(3));
  });
});
