import { Client } from "undici";
import { ask, type Target } from "../chat/askQuestion.ts";
import type { Deployment } from "./layouts.ts";

export interface LoadMeasurements {
  perSecond: number;
  /** Milliseconds of every request. */
  durations: number[];
}

let count = 0;

/** Every connection sends one request after another. The connections are spread evenly over the processes. */
const measureLoad = async (
  { origins }: Deployment,
  connections: number,
  seconds: number,
  request: (client: Client, origin: string) => Promise<unknown>,
): Promise<LoadMeasurements> => {
  const clients = Array.from({ length: connections }, (_, n) => {
    const origin = origins[n % origins.length]!;
    return { origin, client: new Client(origin, { pipelining: 1 }) };
  });
  try {
    const durations: number[] = [];
    const start = performance.now();
    const end = start + seconds * 1000;
    await Promise.all(
      clients.map(async ({ client, origin }) => {
        while (performance.now() < end) {
          const requestStart = performance.now();
          await request(client, origin);
          durations.push(performance.now() - requestStart);
        }
      }),
    );
    return { perSecond: durations.length / ((performance.now() - start) / 1000), durations };
  } finally {
    await Promise.all(clients.map(({ client }) => client.close()));
  }
};

/** Buffered chat completions. Every answer is checked. */
export const chat = (deployed: Deployment, connections: number, seconds: number): Promise<LoadMeasurements> => {
  const target = (origin: string): Target => ({
    name: "scale",
    origin,
    path: "/api/openai/v1/chat/completions",
    headers: { authorization: `Bearer ${deployed.api_key}` },
    model: "openai/mock",
  });
  return measureLoad(deployed, connections, seconds, (client, origin) =>
    ask(target(origin), client, { text: `#${count++}`, stream: false }),
  );
};

/**
 * Renames collections, one for each connection, which creates it: one small event each. The service answers when the read models
 * have it. An organization may not have as many collections as are written.
 */
export const writes = (deployed: Deployment, connections: number, seconds: number): Promise<LoadMeasurements> => {
  const own = new Map<Client, string>();
  return measureLoad(deployed, connections, seconds, async (client) => {
    const id = own.get(client);
    const { statusCode, body } = await client.request({
      method: id === undefined ? "POST" : "PATCH",
      path: `/api/v1/knowledge/collections${id === undefined ? "" : `/${id}`}`,
      headers: { authorization: `Bearer ${deployed.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `Collection ${count++}` }),
    });
    const text = await body.text();
    if (statusCode !== (id === undefined ? 201 : 200))
      throw new Error(`writing a collection was answered with ${statusCode}: ${text.slice(0, 300)}`);
    if (id === undefined) own.set(client, (JSON.parse(text) as { id: string }).id);
  });
};
