import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startLoopback } from "../../doubles/loopback.ts";
import type { Answer, Attacker } from "../attacker.ts";
import { all, many, MIB, type Attack } from "./attack.ts";

/* Pages and sitemaps of sites that are slow, endless or oddly made, and models of an alias that all fail. */

const PATIENCE_MS = 1_200;

type Respond = (response: ServerResponse, path: string) => void | Promise<void>;

const page =
  (text: string): Respond =>
  (response) =>
    void response.writeHead(200, { "content-type": "text/html" }).end(text);
const sitemap =
  (text: string): Respond =>
  (response) =>
    void response.writeHead(200, { "content-type": "application/xml" }).end(text);

async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/html" });
  while (!response.destroyed) {
    response.write("<p>");
    await sleep(20);
  }
}

/** Sources of this kind that read the site for a moment. */
async function readSite(
  attacker: Attacker,
  kind: "url" | "sitemap",
  count: number,
  respond: Respond,
): Promise<Answer[]> {
  const site = await startLoopback(({ path }, response) => respond(response, path));
  const { slug } = await attacker.collection("Site");
  const made = await all(count, (n) =>
    attacker.send("POST", `/api/v1/knowledge/collections/${slug}/sources`, { kind, url: `${site.origin}/${n}` }),
  );
  await sleep(PATIENCE_MS);
  const sources = made.filter(({ status }) => status === 201);
  const ended = await Promise.all(
    sources.map(({ body }) => attacker.send("DELETE", `/api/v1/knowledge/sources/${body.id}`)),
  );
  await site.close();
  return [...made, ...ended];
}

export const hostileAddresses: Attack[] = [
  {
    title: "50 sources whose pages come a byte at a time, or never",
    run: (attacker) =>
      readSite(attacker, "url", 50, (response, path) => (path.endsWith("0") ? undefined : trickle(response))),
  },
  {
    title: "sources of pages of 9 MB that nest 100,000 deep",
    run: (attacker) => readSite(attacker, "url", 6, page(`${"<div>".repeat(100_000)}${"word ".repeat(1.8 * MIB)}`)),
  },
  {
    title: "sitemaps of 50,000 addresses, of themselves, and of 9 MB without an end",
    run: (attacker) =>
      readSite(attacker, "sitemap", 6, (response, path) => {
        const locations = many(50_000, (n) => `<url><loc>http://127.0.0.1:1/${n}</loc></url>`).join("");
        const bodies = [
          `<urlset>${locations}</urlset>`,
          `<sitemapindex>${`<sitemap><loc>http://${response.req.headers.host}${path}</loc></sitemap>`.repeat(5_000)}</sitemapindex>`,
          `<urlset>${"<url><loc>".repeat(900_000)}`,
        ];
        return sitemap(bodies[Number(path.slice(1)) % bodies.length] ?? "")(response, path);
      }),
  },
  {
    title: "documents of 20 addresses that answer a byte at a time",
    async run(attacker) {
      const site = await startLoopback((_, response) => trickle(response));
      const { slug } = await attacker.collection("Addresses");
      const answer = await attacker.send(
        "POST",
        "/api/v1/knowledge/documents/batch",
        { collection: slug, documents: many(20, (n) => ({ url: `${site.origin}/${n}` })) },
        { signal: AbortSignal.timeout(PATIENCE_MS) },
      );
      await site.close();
      return [answer];
    },
  },
  {
    title: "100 turns of an alias whose eight models all fail, fast and slowly",
    mayAnswer: [502],
    async run(attacker) {
      let asked = 0;
      const server = await startLoopback(({ method }, response) =>
        method === "GET" || asked++ % 3 > 0 ? void response.writeHead(503).end("no") : trickle(response),
      );
      const configured = await attacker.owner("PUT", "/api/providers/failing", {
        api_key: "sk",
        base_url: server.origin,
      });
      const alias = await attacker.owner("PUT", "/api/aliases/failing", {
        targets: many(8, (n) => ({ model: `failing/m${n}` })),
        timeout_seconds: 1,
        max_attempts: 10,
        max_seconds: 2,
      });
      const turns = await all(100, (n) =>
        attacker.send(
          "POST",
          "/api/openai/v1/chat/completions",
          { model: "failing", messages: [{ role: "user", content: `${n}` }] },
          { signal: AbortSignal.timeout(PATIENCE_MS) },
        ),
      );
      await server.close();
      return [configured, alias, ...turns];
    },
  },
];
