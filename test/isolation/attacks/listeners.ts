import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Attacker } from "../attacker.ts";
import { all, HOLD_MS, many, type Attack } from "./attack.ts";

/* Listeners that ask for everything and read nothing. */

/** Turns with answers of 100 KB each, so that there is something to leave unread. */
const LONG = "long words ".repeat(10_000);
const talk = (attacker: Attacker): Promise<Answer[]> => all(20, () => attacker.turn(LONG));

const asKey = (attacker: Attacker, method: string, path: string, body = ""): string =>
  [
    `${method} ${path} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${attacker.api_key}`,
    "Accept: text/event-stream",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");

const STREAMED = JSON.stringify({
  model: "offline/echo",
  stream: true,
  messages: [{ role: "user", content: LONG }],
});

export const listeners: Attack[] = [
  {
    title: "50 streams of changes and 40 of turns that nobody reads, beside 20 long turns",
    mustAnswer: { 200: 20 },
    async run(attacker) {
      for (const _ of many(50, (n) => n)) attacker.open(asKey(attacker, "GET", "/api/changes")).pause();
      for (const _ of many(40, (n) => n))
        attacker.open(asKey(attacker, "POST", "/api/openai/v1/chat/completions", STREAMED)).pause();
      const answers = await talk(attacker);
      await sleep(HOLD_MS);
      attacker.closeSockets();
      return answers;
    },
  },
];

/** The bytes with which a client of NATS signs in and asks for all messages of its consumer at once, again and again. */
const askForAll = (user: string, password: string, times: number): string =>
  [
    `CONNECT ${JSON.stringify({ user, pass: password, verbose: false, pedantic: false, headers: true, lang: "x", version: "1" })}`,
    `SUB _INBOX.${user}.> 1`,
    ...many(times, (n) => {
      const request = JSON.stringify({ batch: 1_000_000, expires: 60_000_000_000 });
      return `PUB feed.CONSUMER.MSG.NEXT.SVC_EVENTS.${user} _INBOX.${user}.${n} ${request.length}\r\n${request}`;
    }),
    "PING",
    "",
  ].join("\r\n");

export const feedListeners: Attack[] = [
  {
    title: "20 listeners to the feed that never read, and one that sends nonsense",
    mustAnswer: { 200: 20 },
    async run(attacker) {
      const { hostname, port, username, password } = new URL(attacker.feed!.url);
      const sockets: Socket[] = [];
      const open = (bytes: string): void => {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => socket.destroy());
        socket.pause();
        socket.write(bytes);
        sockets.push(socket);
      };
      for (let n = 0; n < 20; n++) open(askForAll(username, password, 500));
      open(`${askForAll(username, password, 1)}${"PUB x 9999999999\r\n".repeat(1_000)}`);
      const answers = await talk(attacker);
      await sleep(HOLD_MS);
      for (const socket of sockets) socket.destroy();
      return answers;
    },
  },
];
