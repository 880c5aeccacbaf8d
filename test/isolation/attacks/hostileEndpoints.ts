import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startLoopback } from "../../doubles/loopback.ts";
import type { Answer, Attacker } from "../attacker.ts";
import { all, many, MIB, type Attack } from "./attack.ts";

/* Endpoints of an organization's own, for embeddings and reranking, that answer everything but what they should. */

const DIMENSIONS = 4_096;

const send = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(text);

/** As many elements as fit into an answer that is accepted. */
const fill = (element: string, bytes: number): string =>
  many(Math.floor(bytes / element.length), () => element).join("");

async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  while (!response.destroyed) {
    response.write(" ");
    await sleep(20);
  }
}

/** The wrong answers, one for each request, in order. */
const answersOf = (list: string, element: string): ((response: ServerResponse) => void)[] => [
  ...[`{${element}},`, "0,", '"",', "[],", "{},"].map((one) => send(`{"${list}":[${fill(one, 2 * MIB)}0]}`)),
  send(`{"data":[{"embedding":[${fill("0,", 2 * MIB)}0]}]}`),
  send(`{"data":[{"embedding":[${many(DIMENSIONS, () => "1e999").join()}]}]}`),
  send("[".repeat(2 * MIB)),
  (response) => void trickle(response),
  (response) => response.destroy(),
];

async function searchAt(attacker: Attacker, provider: string, settings: object): Promise<Answer[]> {
  const answers = provider === "embeddings" ? answersOf("data", '"embedding":[]') : answersOf("results", '"index":0');
  let asked = 0;
  const server = await startLoopback((_, response) => answers[asked++ % answers.length]!(response));
  const path = `/api/providers/${provider}`;
  const body = { api_key: "sk", base_url: server.origin, model: "m", ...settings };
  const configured = await attacker.owner("PUT", path, body);
  const { slug, upload } = await attacker.collection("Hostile");
  const stored = await upload(`# Words\n${many(2_000, (n) => `Sentence ${n} about words.\n\n`).join("")}`, "words.md");
  await attacker.whenRead(stored.body.id);
  const searches: Answer[] = [];
  for (const n of many(answers.length, (at) => at))
    searches.push(
      ...(await all(2, (m) =>
        attacker.send("POST", "/api/v1/knowledge/search", { query: `words ${n} ${m}`, collections: [slug] }),
      )),
    );
  await attacker.owner("DELETE", path);
  await server.close();
  return [configured, stored, ...searches];
}

export const hostileEndpoints: Attack[] = [
  {
    title: "an embeddings endpoint that answers a million numbers, objects, nothing, and without end",
    run: (attacker) => searchAt(attacker, "embeddings", { dimensions: DIMENSIONS }),
  },
  {
    title: "a reranking endpoint that answers wrongly in the same ways",
    run: (attacker) => searchAt(attacker, "reranking", {}),
  },
];
