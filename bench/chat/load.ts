import { type Asked, ask, connect, type Target } from "./target.ts";

export interface Load {
  connections: number;
  stream: boolean;
  seconds: number;
}

export interface Loaded {
  perSecond: number;
  asked: Asked[];
}

let questions = 0;

/** Asks on that many connections, each one question after another, for that long. */
export const load = async (target: Target, { connections, stream, seconds }: Load): Promise<Loaded> => {
  const clients = Array.from({ length: connections }, () => connect(target));
  try {
    // A connection's first request opens it; that is not what is measured.
    await Promise.all(clients.map((client) => ask(target, client, { text: `#${questions++}`, stream })));
    const asked: Asked[] = [];
    const start = performance.now();
    const end = start + seconds * 1000;
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() < end) asked.push(await ask(target, client, { text: `#${questions++}`, stream }));
      }),
    );
    return { perSecond: asked.length / ((performance.now() - start) / 1000), asked };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
};
