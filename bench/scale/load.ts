import { Client } from "undici";
import { ask, type Target } from "../chat/target.ts";
import type { Deployed } from "./layouts.ts";

export interface Measured {
  perSecond: number;
  /** Milliseconds of every request. */
  took: number[];
}

let count = 0;

/** One request after another on that many connections, shared out evenly over the processes. */
const drive = async (
  { origins }: Deployed,
  connections: number,
  seconds: number,
  request: (client: Client, origin: string) => Promise<unknown>,
): Promise<Measured> => {
  const clients = Array.from({ length: connections }, (_, n) => {
    const origin = origins[n % origins.length]!;
    return { origin, client: new Client(origin, { pipelining: 1 }) };
  });
  try {
    const took: number[] = [];
    const start = performance.now();
    const end = start + seconds * 1000;
    await Promise.all(
      clients.map(async ({ client, origin }) => {
        while (performance.now() < end) {
          const began = performance.now();
          await request(client, origin);
          took.push(performance.now() - began);
        }
      }),
    );
    return { perSecond: took.length / ((performance.now() - start) / 1000), took };
  } finally {
    await Promise.all(clients.map(({ client }) => client.close()));
  }
};

/** Buffered chat completions, each checked and stored. */
export const chat = (deployed: Deployed, connections: number, seconds: number): Promise<Measured> => {
  const target = (origin: string): Target => ({
    name: "scale",
    origin,
    path: "/api/openai/v1/chat/completions",
    headers: { authorization: `Bearer ${deployed.api_key}` },
    model: "openai/mock",
  });
  return drive(deployed, connections, seconds, (client, origin) =>
    ask(target(origin), client, { text: `#${count++}`, stream: false }),
  );
};

/** New collections: one small event each, answered once the read models show it. */
export const writes = (deployed: Deployed, connections: number, seconds: number): Promise<Measured> =>
  drive(deployed, connections, seconds, async (client) => {
    const { statusCode, body } = await client.request({
      method: "POST",
      path: "/api/v1/knowledge/collections",
      headers: { authorization: `Bearer ${deployed.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `Collection ${count++}` }),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`a collection was answered ${statusCode}: ${text.slice(0, 300)}`);
  });
