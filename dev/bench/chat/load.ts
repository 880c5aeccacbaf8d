import { type Answer, ask, connect, type Target } from "./askQuestion.ts";

export interface Load {
  connections: number;
  stream: boolean;
  seconds: number;
}

export interface LoadResult {
  perSecond: number;
  answers: Answer[];
}

let questions = 0;

/** Each connection sends one question after another until the time is over. */
export const load = async (target: Target, { connections, stream, seconds }: Load): Promise<LoadResult> => {
  const clients = Array.from({ length: connections }, () => connect(target));
  try {
    // Opens the connections before the measurement.
    await Promise.all(clients.map((client) => ask(target, client, { text: `#${questions++}`, stream })));
    const answers: Answer[] = [];
    const start = performance.now();
    const end = start + seconds * 1000;
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() < end) answers.push(await ask(target, client, { text: `#${questions++}`, stream }));
      }),
    );
    return { perSecond: answers.length / ((performance.now() - start) / 1000), answers };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
};
