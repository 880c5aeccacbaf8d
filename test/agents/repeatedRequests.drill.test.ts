import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { eventsIn, expectStream } from "./grammar.ts";
import { startAgents } from "./agents.ts";

/* Repeated requests, and requests that arrive while another one runs. */

const agents = await startAgents();
const agent = await agents.open();

let before: number;
beforeEach(async () => {
  before = await agents.count("TurnStarted");
});
const begun = async (): Promise<number> => (await agents.count("TurnStarted")) - before;
const SLOW = "/slow 0.1\n/say one two three";
const retry = { "x-stainless-retry-count": "1" };

describe("a response request that is repeated under its Idempotency-Key", () => {
  test("runs one turn with one answer, buffered and streamed", async () => {
    const key = { "idempotency-key": "r1" };
    const first = await agent.post({ input: "/say Once" }, key);
    const again = await agent.post({ input: "/say Once" }, key);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("x-thread-id")).toBe(first.headers.get("x-thread-id"));
    const streamed = { "idempotency-key": "r2" };
    const { events } = await agent.stream("/reason Hm.\n/say Once more", {}, streamed);
    expect((await agent.stream("/reason Hm.\n/say Once more", {}, streamed)).events).toEqual(events);
    expect(await begun()).toBe(2);
  });

  test("runs one turn if it is sent three times at once to a busy thread", async () => {
    const { id } = await agent.ask("/say First");
    const more = { previous_response_id: id };
    const key = { "idempotency-key": "r3" };
    const answers = await Promise.all([1, 2, 3].map(() => agent.ask(SLOW, more, key)));
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(1);
    const stream = { "idempotency-key": "r4" };
    const streams = await Promise.all([1, 2, 3].map(() => agent.stream(SLOW, more, stream)));
    expect(streams[1]!.events).toEqual(streams[0]!.events);
    expect(streams[2]!.events).toEqual(streams[0]!.events);
    expect(await begun()).toBe(3);
  });

  test("gets the answer of its turn, even if the response that it continues has been deleted since", async () => {
    const { id } = await agent.ask("/say Before");
    const more = { previous_response_id: id, vars: { a: 1 } };
    const key = { "idempotency-key": "again-6" };
    const first = await agent.ask("/say Same", more, key);
    const later = Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`k${n}`, n]));
    await agent.ask("/say Later", { previous_response_id: first.id, vars: later });
    await agent.call("DELETE", `/responses/${id}`);
    expect(await agent.ask("/say Same", more, key)).toEqual(first);
    expect(await begun()).toBe(3);
  });

  test("is refused with another body, and is a new request for another agent or user", async () => {
    const key = { "idempotency-key": "r5" };
    const { id } = await agent.ask("/say One", {}, key);
    const other = await agent.post({ input: "/say Two" }, key);
    expect([other.status, other.body.error.code]).toEqual([422, "idempotency_key_reused"]);
    const elsewhere = await agents.open();
    for (const [client, more] of [
      [elsewhere, {}],
      [agent, { user: "ada" }],
    ] as const)
      expect((await client.ask("/say One", more, key)).id).not.toBe(id);
  });

  test("gets the same failed response, without another turn", async () => {
    const key = { "idempotency-key": "r6" };
    const failed = await agent.ask("/fail 400", {}, key);
    expect(await agent.ask("/fail 400", {}, key)).toEqual(failed);
    expect(await begun()).toBe(1);
  });

  test("gets a 404 if its response was deleted, and does not run again", async () => {
    const key = { "idempotency-key": "r7" };
    const { id } = await agent.ask("/say Once", {}, key);
    await agent.call("DELETE", `/responses/${id}`);
    const again = await agent.post({ input: "/say Once" }, key);
    expect([again.status, again.body.error.code]).toEqual([404, "thread_not_found"]);
    expect(await begun()).toBe(1);
  });
});

/** Requests whose client left, as the http process recorded it: a retry joins only these. */
const unanswered = async (): Promise<number> => (await agents.db.query("select from ops.unanswered")).length;

/** Sends a request, and disconnects after the first events. */
async function leave(body: object): Promise<any[]> {
  const before = await unanswered();
  const received = await agent.some("/responses", { ...body, stream: true }, (seen) => seen.length > 2);
  await expect.poll(unanswered).toBeGreaterThan(before);
  return received;
}
/** Sends a request, and disconnects once its turn has begun. */
async function leaveBuffered(body: object): Promise<void> {
  const gone = new AbortController();
  const before = await unanswered();
  const headers = { authorization: `Bearer ${agents.api_key}`, "content-type": "application/json" };
  const sent = fetch(`${agent.base}/responses`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: gone.signal,
  });
  await expect.poll(begun).toBe(1);
  gone.abort();
  await sent.catch(() => {});
  await expect.poll(unanswered).toBeGreaterThan(before);
}

describe("a retry of a response request", () => {
  test("resumes the turn of a disconnected client only once", async () => {
    const body = { input: "/slow 0.5\n/say left one two" };
    await leaveBuffered(body);
    expect((await agent.ask(body.input, {}, retry)).output[0].content[0].text).toBe("left one two");
    expect(await begun()).toBe(1);
    expect((await agent.ask(body.input, {}, retry)).status).toBe("completed");
    expect(await begun()).toBe(2);
  });

  test("resumes an abandoned stream from its start", async () => {
    const body = { input: "/slow 0.3\n/say streamed one two three" };
    const received = await leave(body);
    const { events, response } = await agent.stream(body.input, {}, retry);
    expect(events.slice(0, received.length)).toEqual(received);
    expect([await begun(), response.status]).toEqual([1, "completed"]);
  });

  test("does not resume a turn that was cancelled", async () => {
    const body = { input: "/slow 0.3\n/say stopped one two" };
    const [created] = await leave(body);
    expect((await agent.call("POST", `/responses/${created.response.id}/cancel`)).body.status).toBe("cancelled");
    const { response } = await agent.stream(body.input, {}, retry);
    expect([await begun(), response.status]).toEqual([2, "completed"]);
  });
});

describe("a busy thread of an agent", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("queues the second turn behind the first", async () => {
    const { thread_id } = await agent.ask("/say First");
    const header = { "x-thread-id": thread_id };
    const [second, third] = await Promise.all([agent.ask(SLOW, {}, header), agent.stream(SLOW, {}, header)]);
    expect([second.status, third.response.status]).toEqual(["completed", "completed"]);
    const { data } = (await agent.call("GET", `/responses/${third.response.id}/input_items`)).body;
    expect(data.length + (await agent.call("GET", `/responses/${second.id}/input_items`)).body.data.length).toBe(8);
  });

  test("answers 409 thread_busy after 20 s, with the headers for a retry", async () => {
    const { id, thread_id } = await agent.ask("/say First");
    const running = agent.stream("/slow 11\n/say one two", { previous_response_id: id });
    await expect.poll(begun).toBe(2);
    const { status, body, headers } = await agent.post({ input: "/say x" }, { "x-thread-id": thread_id });
    expect([status, body.error.code]).toEqual([409, "thread_busy"]);
    expect(headers.get("x-should-retry")).toBe("true");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(headers.get("retry-after-ms"))).toBeGreaterThan(0);
    expect((await running).response.status).toBe("completed");
  });
});

describe("a client that waits for an agent", () => {
  const timers = { toFake: ["setInterval", "clearInterval"] } as const;
  afterEach(() => void vi.useRealTimers());

  test("receives white space after 15 s of a buffered response, and then valid JSON", async () => {
    vi.useFakeTimers({ toFake: [...timers.toFake] });
    const asked = agent.post({ input: "/slow 2\n/say one two" });
    await expect.poll(begun).toBe(1);
    await sleep(300);
    vi.advanceTimersByTime(45_000);
    const { status, text, headers } = await asked;
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(headers.get("x-thread-id")).toBeTruthy();
    expect(headers.get("x-request-id")).toBeTruthy();
    expect(text.startsWith("   {")).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ status: "completed", output: [{ content: [{ text: "one two" }] }] });
    expect((await agent.call("GET", `/responses/${JSON.parse(text).id}`)).body).toEqual(JSON.parse(text));
  });

  test("receives SSE comments while a stream is silent", async () => {
    vi.useFakeTimers({ toFake: [...timers.toFake] });
    const asked = agent.post({ input: "/slow 2\n/say one two", stream: true }, { "x-request-id": "mine-1" });
    await expect.poll(begun).toBe(1);
    await sleep(300);
    vi.advanceTimersByTime(30_000);
    const { text, headers } = await asked;
    expect(headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.get("content-encoding")).toBeNull();
    expect(headers.get("x-request-id")).toBe("mine-1");
    expect(text.match(/^: ping$/gm)).toHaveLength(2);
    expect(expectStream(eventsIn(text)).status).toBe("completed");
  });
});

test("a buffered response over its time limit fails with the output so far, and a streamed response has no such limit", async () => {
  const limited = await startAgents({ TURN_SECONDS: "2" });
  const client = await limited.open();
  const late = await client.ask("/slow 0.8\n/say one two three four");
  expect(late).toMatchObject({ status: "failed", error: { code: "agent_error" } });
  expect(late.output).toMatchObject([
    { type: "message", status: "incomplete", content: [{ text: expect.stringMatching(/^one /) }] },
  ]);
  expect((await client.stream("/slow 0.8\n/say one two three")).response.status).toBe("completed");
});
