import { connect } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { streamName } from "#events/ids.ts";
import { say } from "../http/service.ts";
import { leavesWell, startTarget } from "../hostile/target.ts";
import { startOpenai } from "../doubles/openai.ts";
import { DONE, FINISH, streaming, words } from "./replies.ts";
import { readStream } from "./faultyProvider.ts";

/* Readers of a stream leave at any moment, or read nothing: the output is kept, and the thread can be continued. */

const LONG = Array.from({ length: 16 }, (_, n) => `word${n}`).join(" ");
const PAUSE_S = 0.4;
/** 15 MB as events: more than the buffers of both ends of a connection hold. */
const HUGE = Array.from({ length: 2_500 }, () => "\u0001".repeat(1_000));

const provider = await startOpenai();
const target = await startTarget({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: provider.url });
provider.script(({ method }) => (method === "GET" ? { status: 500 } : streaming(...HUGE.map(words), FINISH, DONE)));
afterFile(() => provider.close());
leavesWell(() => target, afterEach);

const ended = async (thread: string): Promise<any> => {
  const events = await target.platform.resources.log.read(streamName("thread", thread));
  return events.find(({ type }) => /^Turn(Completed|Stopped|Failed|Refused)$/.test(type));
};

/** Starts a streamed turn in a new thread, reads this many events, and disconnects. */
async function leaveAfter(events: number) {
  const gone = new AbortController();
  const body = say(`/slow ${PAUSE_S}\n/say ${LONG}`, { model: "offline/scripted", stream: true });
  const response = await fetch(`${target.chat}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${target.api_key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: gone.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  const count = () => received.split("\n\n").length - 1;
  while (count() < events) {
    const { value, done } = await reader.read();
    if (done) break;
    received += value;
  }
  gone.abort();
  await reader.closed.catch(() => {});
  return { thread: response.headers.get("x-thread-id")!, received: readStream(received).text, left: Date.now() };
}

const EVENTS = 19;

/** Leaves at an event, continues the thread at once, and expects the first turn's output in it. */
async function leaveAndReturn(index: number) {
  const { thread, received, left } = await leaveAfter(index);
  const next = await target.complete(say("and now"), { "x-thread-id": thread });
  expect([index, next.status, next.body.error ?? next.body.choices[0].message.content]).toEqual([
    index,
    200,
    "and now",
  ]);
  const end = await ended(thread);
  const { text } = end.personal.said;
  expect([index, text.startsWith(received), LONG.startsWith(text), text !== ""]).toEqual([index, true, true, true]);
  expect(end.data.usage.completion_tokens).toBeGreaterThan(0);
  const rest = (EVENTS - index) * PAUSE_S;
  if (rest > 4.5) expect([index, end.type]).toEqual([index, "TurnStopped"]);
  if (rest < 2.5) expect([index, end.type, text]).toEqual([index, "TurnCompleted", LONG]);
  if (end.type === "TurnStopped") expect(end.recorded_at.getTime() - left).toBeGreaterThan(2_900);
  const { data } = (await target.send("GET", `/threads/${thread}/messages`)).body;
  expect(data.map(({ content }: { content: string }) => content).slice(1)).toEqual([text, "and now", "and now"]);
}

test("a reader who disconnects after any event stops the turn 3 s later, and the thread remains usable", async () => {
  await Promise.all(Array.from({ length: EVENTS }, (_, index) => leaveAndReturn(index)));
});

test("a client that reads nothing is disconnected, and the turn continues", async () => {
  const { hostname, port } = new URL(target.platform.url);
  const body = JSON.stringify(say("/huge", { model: "openai/huge", stream: true }));
  const head = target.head(
    "POST /api/openai/v1/chat/completions",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  );
  const socket = connect(Number(port), hostname);
  socket.on("error", () => socket.destroy());
  socket.write(head + body);
  await once(socket, "readable");
  const first = String(socket.read());
  const thread = /x-thread-id: (\S+)/.exec(first)![1]!;
  await expect.poll(() => ended(thread)).toMatchObject({ type: "TurnCompleted" });
  expect((await ended(thread)).personal.said.text === HUGE.join("")).toBe(true);

  await sleep(100);
  let bytes = 0;
  let last = "";
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    last = chunk.toString("latin1").slice(-100);
  });
  await once(socket, "close");
  expect(bytes).toBeLessThan(14_000_000);
  expect(last).not.toContain("[DONE]");
});
