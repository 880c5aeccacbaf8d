import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { TOOL } from "./agents.ts";
import { startTwoHttp } from "./deployment.ts";
import { expectNumbered, expectStream } from "./grammar.ts";

/* The parts of a stream, read from any processes, are one stream. */

const { processes, agent, elsewhere } = await startTwoHttp();

const RICH = `/slow 0.1\n/reason Let me see.\n/tool ${TOOL} {"text":"a"}\n/tool ${TOOL} {"fail":true}\n/rounds 2\n/say one two three four five six`;
const idIn = (events: any[]): string => events[0].response.id;

/** Both parts are one valid stream, equal to the stored one. */
async function expectOneStream(first: any[], rest: any[]): Promise<any> {
  expectNumbered(rest, first.length);
  const whole = [...first, ...rest];
  const response = expectStream(whole);
  for (const client of [agent, elsewhere]) {
    expect(await client.resume(response.id)).toEqual(whole);
    expect((await client.call("GET", `/responses/${response.id}`)).body).toEqual(response);
  }
  return response;
}

test.each([2, 3, 6, 9, 15, 20, 24, 30])(
  "a stream whose reader disconnects after %i events continues from another process",
  async (n) => {
    const first = await agent.some("/responses", { input: RICH, stream: true }, ({ length }) => length >= n);
    const rest = await elsewhere.resume(idIn(first), first.length - 1);
    expect((await expectOneStream(first, rest)).status).toBe("completed");
  },
);

test("a stream whose reader disconnects repeatedly continues each time", async () => {
  const parts = await agent.some("/responses", { input: RICH, stream: true }, ({ length }) => length >= 2);
  const path = () => `/responses/${idIn(parts)}?stream=true&starting_after=${parts.length - 1}`;
  for (let turn = 0; parts.at(-1).type !== "response.completed"; turn++) {
    const more = await [elsewhere, agent][turn % 2]!.some(path(), undefined, ({ length }) => length >= 4);
    expectNumbered(more, parts.length);
    parts.push(...more);
  }
  await expectOneStream(parts, []);
});

test("several readers of one response get the same events", async () => {
  const first = await agent.some("/responses", { input: RICH, stream: true }, ({ length }) => length >= 4);
  const readers = [agent, elsewhere, agent, elsewhere].map((client) => client.resume(idIn(first)));
  for (const events of await Promise.all(readers)) expect(events.slice(0, first.length)).toEqual(first);
  await expectOneStream(await readers[0]!, []);
});

test("a finished stream can be resumed after every one of its events, even without the retained frames", async () => {
  const { events, response } = await agent.stream(RICH);
  await processes.purgeFrames();
  for (const [n] of events.entries()) expect(await elsewhere.resume(response.id, n)).toEqual(events.slice(n + 1));
  await expectOneStream(events, []);
});

test("frames of a running response that the bus loses are sent at its end", async () => {
  const input = `${RICH} ${"and more ".repeat(8)}`;
  const first = await agent.some("/responses", { input, stream: true }, ({ length }) => length >= 24);
  await processes.purgeFrames();
  const rest = await elsewhere.resume(idIn(first), first.length - 1);
  expect((await expectOneStream(first, rest)).status).toBe("completed");
});

test("starting_after must be the number of an event", async () => {
  const { response } = await agent.stream("/say x");
  for (const after of ["-1", "x", "1.5", ""]) {
    const { status, body } = await agent.call("GET", `/responses/${response.id}?stream=true&starting_after=${after}`);
    expect([status, body.error.param]).toEqual([400, "starting_after"]);
  }
  const { status, body } = await agent.call("GET", `/responses/${response.id}?stream=maybe`);
  expect([status, body.error.param]).toEqual([400, "stream"]);
});

test("a stream whose http process dies continues from another process", async () => {
  const dying = await processes.start("http");
  const first: any[] = [];
  const reading = processes.at(dying.url).some("/responses", { input: RICH, stream: true }, (seen) => {
    first.splice(0, first.length, ...seen);
    if (seen.length >= 12) dying.kill();
    return false;
  });
  await expect(reading).rejects.toThrow();
  const rest = await elsewhere.resume(idIn(first), first.length - 1);
  expect((await expectOneStream(first, rest)).status).toBe("completed");
});

test("a client that retries after its http process died joins the same turn", async () => {
  const dying = await processes.start("http");
  const before = await processes.count("TurnStarted");
  let received: any[] = [];
  const input = `${RICH} and seven`;
  const reading = processes.at(dying.url).some("/responses", { input, stream: true }, (seen) => {
    received = seen;
    if (seen.length >= 6) dying.kill();
    return false;
  });
  await expect(reading).rejects.toThrow();
  // what clients wait before their first retry
  await sleep(400);
  const { events } = await elsewhere.stream(input, {}, { "x-stainless-retry-count": "1" });
  expect(events.slice(0, received.length)).toEqual(received);
  expect(await processes.count("TurnStarted")).toBe(before + 1);
});
