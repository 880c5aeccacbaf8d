import { setTimeout as sleep } from "node:timers/promises";
import { ask, connect, type Target } from "../chat/askQuestion.ts";
import type { Deployment } from "../scale/layouts.ts";

const CLIENTS = 8;
/** A turn every 400 ms for each client: 20 a second together. */
const EVERY_MS = 400;
const TURNS_IN_THREAD = 4;
const TURNS_FOR_A_DOCUMENT = 20;
const DOCUMENT = "A sentence of a document that somebody uploads and nobody asks for. ".repeat(60);

export interface SoakLoad {
  turns(): number;
  documents(): number;
  stop(): Promise<void>;
}

/** Moderate load: threads of four short turns, half of them streamed, and a document of 4 kB for every twenty turns. */
export function startSoakLoad({ origins, api_key }: Deployment): SoakLoad {
  let [isGoing, turns, documents] = [true, 0, 0];
  const origin = origins[0]!;
  const headers = { authorization: `Bearer ${api_key}` };
  const target: Target = {
    name: "soak",
    origin,
    path: "/api/openai/v1/chat/completions",
    headers,
    model: "openai/mock",
  };
  const send = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${origin}/api/v1/knowledge/collections${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  const run = async (n: number): Promise<void> => {
    const client = connect(target);
    let thread: string | undefined;
    for (let turn = 0; isGoing; turn++) {
      const due = performance.now() + EVERY_MS;
      if (turn % TURNS_IN_THREAD === 0) thread = undefined;
      const question = { text: `#${n}-${turn}`, stream: turn % 2 === 0, ...(thread && { thread }) };
      ({ thread } = await ask(target, client, question));
      turns += 1;
      if (turns % TURNS_FOR_A_DOCUMENT === 0) {
        documents += 1;
        await send("/soak/documents/text", {
          external_id: `${n}-${turn}`,
          name: `${n}-${turn}.md`,
          text: `${n}-${turn} ${DOCUMENT}`,
        });
      }
      await sleep(Math.max(0, due - performance.now()));
    }
    await client.close();
  };
  const all = send("", { name: "Soak" }).then(() => Promise.all(Array.from({ length: CLIENTS }, (_, n) => run(n))));
  all.catch(() => {});
  return {
    turns: () => turns,
    documents: () => documents,
    async stop() {
      isGoing = false;
      await all;
    },
  };
}
