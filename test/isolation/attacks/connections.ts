import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Answer, Attacker } from "../attacker.ts";
import { all, HOLD_MS, KIB, many, MIB, type Attack } from "./attack.ts";

/* Requests that are many, large or slow, whatever route they ask for. */

const METHODS = ["GET", "POST", "PUT", "DELETE"];
/** Time series that requests of the other organization may add to the metrics meanwhile. */
const MAX_NEW_SERIES = 50;
/** For so long everybody gets the same metrics. */
const METRICS_MS = 1_100;

/** The time series that the metrics have for requests. */
async function countSeries({ url }: Attacker): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split("\n").filter((line) => line.startsWith("http_requests_total{")).length;
}

export const connections: Attack[] = [
  {
    title: "256 idle sockets that announce a large body without a credential",
    async run(attacker) {
      for (const _ of many(256, (n) => n))
        attacker.open(
          "POST /api/openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n{",
        );
      await sleep(HOLD_MS);
      attacker.closeSockets();
      return [];
    },
  },
  {
    title: "64 idle sockets that announce a large body with a key",
    async run(attacker) {
      for (const _ of many(64, (n) => n))
        attacker.open(
          `POST /api/openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.api_key}\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n{`,
        );
      await sleep(HOLD_MS);
      attacker.closeSockets();
      return [];
    },
  },
  {
    title: "sign-in bodies that trickle in",
    async run(attacker) {
      const sockets = many(100, () =>
        attacker.open(
          "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
        ),
      );
      for (let n = 0; n < 20; n++) {
        await sleep(HOLD_MS / 20);
        for (const socket of sockets) socket.write(" ".repeat(1_000));
      }
      attacker.closeSockets();
      return [];
    },
  },
  {
    title: "200 requests for the API's descriptions and metrics",
    run: (attacker) =>
      all(200, (n) => attacker.send("GET", ["/openapi.json", "/metrics", "/asyncapi.json", "/readyz"][n % 4]!)),
  },
  {
    title: "300 streams of the audit by one owner",
    mustAnswer: { 429: 200 },
    async run(attacker) {
      const leave = new AbortController();
      const streams = many(300, () =>
        attacker.send("GET", "/api/events", undefined, {
          as: "owner",
          headers: { accept: "text/event-stream" },
          signal: leave.signal,
        }),
      );
      await sleep(HOLD_MS);
      leave.abort();
      return (await Promise.all(streams)).filter(({ status }) => status !== 0);
    },
  },
  {
    title: "headers of 100 KB on 50 requests",
    mustAnswer: { 431: 50 },
    run: (attacker) =>
      all(50, () =>
        attacker.send("GET", "/api/openai/v1/models", undefined, { headers: { "x-many": "h".repeat(100 * KIB) } }),
      ),
  },
  {
    title: "5,000 paths and methods that do not exist",
    mustAnswer: { 404: 4_900 },
    async run(attacker) {
      const answers: Answer[] = [];
      const before = await countSeries(attacker);
      for (let n = 0; n < 50; n++)
        answers.push(...(await all(100, (m) => attacker.send(METHODS[m % 4]!, `/api/none/${n}/${m}`))));
      await sleep(METRICS_MS);
      const added = (await countSeries(attacker)) - before;
      // metrics that name each path would fill the memory of everybody who collects them
      if (added > MAX_NEW_SERIES) answers.push({ status: 500, body: `${added} more time series` });
      return answers;
    },
  },
  {
    title: "a compressed body that grows a thousandfold",
    mustAnswer: { 415: 4 },
    run: (attacker) =>
      all(4, () =>
        attacker.send("POST", "/api/openai/v1/chat/completions", gzipSync(Buffer.alloc(50 * MIB, " ")), {
          headers: { "content-encoding": "gzip" },
        }),
      ),
  },
  {
    title: "JSON that nests 100,000 deep",
    mustAnswer: { 400: 10 },
    run: (attacker) =>
      all(10, () =>
        attacker.send("POST", "/api/openai/v1/chat/completions", `${"[".repeat(100_000)}${"]".repeat(100_000)}`),
      ),
  },
  {
    title: "100 downloads of a file of 24 MiB that nobody reads",
    mustAnswer: { 200: 1, 429: 90 },
    async run(attacker) {
      const form = new FormData();
      form.append("file", new Blob(["x".repeat(24 * MIB)]), "large.txt");
      const { body } = await attacker.send("POST", "/api/openai/v1/files", form);
      const head = `GET /api/openai/v1/files/${body.id}/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.api_key}\r\n\r\n`;
      const sockets = many(100, () => attacker.open(head).pause());
      await sleep(HOLD_MS);
      const answers = sockets.map(async (socket) => {
        const [first] = await Promise.race([once(socket, "data"), once(socket, "close")]);
        socket.destroy();
        return { status: Number(String(first).slice(9, 12)) || 0, body: undefined };
      });
      for (const socket of sockets) socket.resume();
      return Promise.all(answers);
    },
  },
];
