import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProcesses } from "../agents/deployment.ts";
import { expectNumbered } from "../agents/grammar.ts";
import { clientOf, say } from "./service.ts";

/* A process that shuts down gives open work 10 s, and leaves the rest to other processes. */

const SECONDS = 25;
const SLOW = `/slow 0.5\n/say ${"word ".repeat(SECONDS * 2).trim()}`;

const processes = await startProcesses();
const streaming = { model: "offline/scripted", stream: true };

test("an http process that shuts down ends its streams with an error, and another process continues their answers", async () => {
  const leaving = await processes.start("http");
  const agent = processes.at(leaving.url);
  const chatAt = (url: string) => clientOf({ chat: `${url}/api/openai/v1` }, processes.api_key);
  const streamed = [
    agent.post({ input: SLOW, stream: true }),
    chatAt(leaving.url)("POST", "/chat/completions", say(SLOW, streaming)),
  ];
  await expect.poll(() => processes.count("TurnStarted")).toBe(2);
  process.kill(leaving.pid, "SIGTERM");
  const [response, chat] = await Promise.all(streamed);

  expect(chat!.text).toMatch(/data: \{"error":\{"message":"The server is restarting[^\n]*\n\n$/);
  const frames = response!.text.trimEnd().split("\n\n");
  const events = frames.map((frame) => JSON.parse(frame.split("\ndata: ")[1]!));
  const last = events.pop();
  expect(last).toMatchObject({ type: "error", code: "unavailable", sequence_number: events.length - 1 });
  const rest = await processes.at().resume(events[0].response.id, last.sequence_number);
  expectNumbered(rest, events.length);
  expect(rest.at(-1)).toMatchObject({ type: "response.completed" });

  const retry = { "x-stainless-retry-count": "1" };
  const again = await chatAt(processes.home.url)("POST", "/chat/completions", say(SLOW, streaming), retry);
  expect(again.text).toMatch(/data: \[DONE\]\n\n$/);
  expect(await processes.count("TurnStarted")).toBe(2);
});

test("an http process that shuts down refuses a request on an open connection in the usual form, with a retry time", async () => {
  const leaving = await processes.start("http");
  const { hostname, port } = new URL(leaving.url);
  const socket = connect(Number(port), hostname);
  const received = text(socket);
  const body = JSON.stringify(say("/slow 1\n/say one two three four", streaming));
  const head = `Host: ${hostname}\r\nAuthorization: Bearer ${processes.api_key}\r\n`;
  const started = await processes.count("TurnStarted");
  socket.write(
    `POST /api/openai/v1/chat/completions HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await expect.poll(() => processes.count("TurnStarted")).toBe(started + 1);
  process.kill(leaving.pid, "SIGTERM");
  // it listens no longer once it shuts down
  const isListening = async () => {
    const probe = connect(Number(port), hostname);
    const isOpen = await Promise.race([once(probe, "connect").then(() => true), sleep(1_000, true)]).catch(() => false);
    probe.destroy();
    return isOpen;
  };
  await expect.poll(isListening).toBe(false);
  socket.write(`GET /api/openai/v1/models HTTP/1.1\r\n${head}\r\n`);
  const [first, second] = (await received).split(/(?=HTTP\/1\.1 )/);
  expect(first).toMatch(/^HTTP\/1\.1 200 [^]*data: \[DONE\]/);
  expect(second).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: \d+\r\n[^]*"code":"unavailable"/i);
});

test("a services process that shuts down leaves a running turn to another worker", async () => {
  const client = clientOf({ chat: `${processes.home.url}/api/openai/v1` }, processes.api_key);
  const [started, completed] = [await processes.count("TurnStarted"), await processes.count("TurnCompleted")];
  const answer = client(
    "POST",
    "/chat/completions",
    say(`/slow ${SECONDS}\n/say at last`, { model: "offline/scripted" }),
  );
  await expect.poll(() => processes.count("TurnStarted")).toBe(started + 1);
  const successor = await processes.start("services");
  process.kill(processes.worker.pid, "SIGTERM");
  await processes.worker.ended;
  expect(await processes.count("TurnCompleted")).toBe(completed);
  const { status, body } = await answer;
  expect([status, body.choices[0].message.content]).toEqual([200, "at last"]);
  expect(await processes.count("TurnTakenOver")).toBe(1);
  successor.kill();
});
