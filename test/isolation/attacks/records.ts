import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Attacker } from "../attacker.ts";
import { all, many, type Attack } from "./attack.ts";

/* Attacks on an organization's records: its log, its people, its deletions, and sign-ins. */

const STREAM_MS = 1_200;

/** A sign-in from an address of its own; every address of the loopback network is this machine. */
const signInFrom = ({ port }: Attacker, localAddress: string, email: string): Promise<Answer> =>
  new Promise((resolve) => {
    const body = JSON.stringify({ email, password: "p".repeat(1_000) });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(
      { host: "127.0.0.1", port, localAddress, method: "POST", path: "/api/auth/login", headers },
      (response) => {
        response.resume();
        response.on("close", () => resolve({ status: response.statusCode ?? 0, body: undefined }));
      },
    );
    sent.on("error", () => resolve({ status: 0, body: undefined }));
    sent.setTimeout(3_000, () => sent.destroy());
    sent.end(body);
  });

const key = (attacker: Attacker) => attacker.create("/api/keys", { name: "Much" });
const turnAs = (attacker: Attacker, secret: string, user: string): Promise<Answer> =>
  attacker.send(
    "POST",
    "/api/openai/v1/chat/completions",
    { model: "offline/echo", user, messages: [{ role: "user", content: "words to be forgotten" }] },
    { headers: { authorization: `Bearer ${secret}` } },
  );

export const records: Attack[] = [
  {
    title: "300 histograms, checks of the chain, pages and searches of the log",
    run: (attacker) =>
      all(300, (n) => {
        const paths = [
          "/api/events/histogram",
          "/api/events/check",
          `/api/find?id=${n}nothing`,
          "/api/events?limit=500",
          "/api/changes?limit=500",
          `/api/events/histogram?type=${"TurnStarted,".repeat(500)}`,
        ];
        return attacker.owner("GET", paths[n % paths.length]!);
      }),
  },
  {
    title: "300 streams of changes by one owner beside 100 turns",
    mustAnswer: { 429: 200 },
    async run(attacker) {
      const leave = new AbortController();
      const streams = many(300, () =>
        attacker.send("GET", "/api/changes", undefined, {
          as: "owner",
          headers: { accept: "text/event-stream" },
          signal: leave.signal,
        }),
      );
      const turns = await all(100, (n) => attacker.turn(`turn ${n}`));
      await sleep(STREAM_MS);
      leave.abort();
      return [...turns, ...(await Promise.all(streams)).filter(({ status }) => status !== 0)];
    },
  },
  {
    title: "200 sign-ins from 20 addresses with passwords of 1,000 characters",
    run: (attacker) => all(200, (n) => signInFrom(attacker, `127.0.1.${1 + (n % 20)}`, `somebody${n}@example.com`)),
  },
  {
    title: "20 members, 50 groups of all of them, and 100 keys",
    async run(attacker) {
      const members = await all(20, (n) =>
        attacker.owner("POST", "/api/members", {
          email: `${randomUUID()}@example.com`,
          name: `M ${n}`,
          role: "viewer",
        }),
      );
      const ids = members.filter(({ status }) => status === 201).map(({ body }) => body.id ?? body.user?.id);
      const groups = await all(50, (n) => attacker.owner("PUT", `/api/groups/g${n}`, { members: ids }));
      const keys = await all(100, (n) => attacker.owner("POST", "/api/keys", { name: `K ${n}` }));
      const removed = keys.filter(({ status }) => status === 201);
      await Promise.all(removed.map(({ body }) => attacker.owner("DELETE", `/api/keys/${body.id}`)));
      return [...members, ...groups, ...keys];
    },
  },
  {
    title: "erasures of a key and of 20 users with 100 threads, their certificates, and previews of retention",
    async run(attacker) {
      const { id, key: secret } = await key(attacker);
      const turns = await all(100, (n) => turnAs(attacker, secret, `user-${n % 20}`));
      const erasures = [
        ...(await all(20, (n) => attacker.owner("POST", "/api/erasures", { owner: `user:user-${n}` }))),
        ...(await all(5, () => attacker.owner("POST", "/api/erasures", { owner: `key:${id}` }))),
      ];
      const certificates = await Promise.all(
        erasures.map(({ body }) => attacker.owner("GET", `/api/erasures/${body.id}/certificate`)),
      );
      const previews = await all(50, () =>
        attacker.owner("POST", "/api/retention/organization/preview", {
          threads: "1d",
          turns: "1d",
          files: "1d",
          documents: "1d",
          runs: "1d",
        }),
      );
      return [...turns, ...erasures, ...certificates, ...previews];
    },
  },
  {
    title: "100 holds, each released, beside 50 lists of them",
    async run(attacker) {
      const holds = await all(100, (n) =>
        attacker.owner("POST", "/api/holds", { subject: `user:${n}`, name: `Hold ${n}`, reason: "r".repeat(2_000) }),
      );
      const lists = await all(50, () => attacker.owner("GET", "/api/holds?limit=500"));
      const placed = holds.filter(({ status }) => status === 201);
      const released = await Promise.all(placed.map(({ body }) => attacker.owner("DELETE", `/api/holds/${body.id}`)));
      return [...holds, ...lists, ...released];
    },
  },
];
