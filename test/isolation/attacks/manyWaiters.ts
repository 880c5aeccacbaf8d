import { setTimeout as sleep } from "node:timers/promises";
import { all, many, type Attack } from "./attack.ts";

/* Requests that are refused together, and bodies of which each element is wrong. */

const MAX_ELEMENTS = 240_000;
/** Just below what the limit of values lets pass. */
const MAX_NAMES = 20_000;

export const manyWaiters: Attack[] = [
  {
    title: "1,000 requests with unknown keys",
    mustAnswer: { 401: 900 },
    run: (attacker) =>
      all(1_000, (n) =>
        attacker.send("GET", "/api/openai/v1/models", undefined, {
          headers: { authorization: `Bearer ${attacker.api_key.slice(0, -8)}${String(n).padStart(8, "x")}` },
        }),
      ),
  },
  {
    title: "20 connections that send 5,000 requests each without waiting for an answer",
    async run(attacker) {
      const request = "GET /none HTTP/1.1\r\nHost: x\r\n\r\n";
      const sockets = many(20, () => attacker.open(request.repeat(5_000)));
      await Promise.race([
        Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)))),
        sleep(3_000),
      ]);
      attacker.closeSockets();
      return [];
    },
  },
  {
    title: "bodies with 240,000 wrong elements, and with 20,000 names in objects of their own",
    mustAnswer: { 400: 9 },
    async run(attacker) {
      const elements = (element: string) => `[${many(MAX_ELEMENTS, () => element).join()}]`;
      const zeros = elements("0");
      const bodies: [string, string][] = [
        ["/api/openai/v1/chat/completions", `{"model":"offline/echo","messages":${zeros}}`],
        ["/api/openai/v1/chat/completions", `{"model":"offline/echo","messages":[{"role":"user","content":${zeros}}]}`],
        ["/api/openai/v1/chat/completions", `{"model":"offline/echo","messages":[],"stop":${zeros}}`],
        ["/api/openai/v1/chat/completions", `{"model":"offline/echo","messages":[],"tools":${zeros}}`],
        [`/api/agents/${attacker.agent_id}/v1/responses`, `{"input":${zeros}}`],
        [`/api/agents/${attacker.agent_id}/v1/responses`, `{"input":"a","attachments":${zeros}}`],
        ["/api/v1/knowledge/verify", `{"answer":"a","citations":${zeros}}`],
        ["/api/v1/knowledge/search", `{"query":"a","tags":${zeros}}`],
        ["/api/workflows/events", `{"name":"a","id":"a","data":${zeros}}`],
      ];
      const names = JSON.stringify(many(MAX_NAMES, (n) => ({ [`name ${n}`]: 0 })));
      bodies.push(["/api/openai/v1/chat/completions", `{"model":"offline/echo","messages":[],"names":${names}}`]);
      return Promise.all(bodies.map(([path, body]) => attacker.send("POST", path, body)));
    },
  },
];
