import { ask, connect, type Target } from "../chat/askQuestion.ts";
import { progress } from "../tools/progress.ts";
import { median, percentile } from "../tools/stats.ts";

const FEW = 100;
const ROUNDS = 3;

/** The 99th percentile of the milliseconds to the first words, if this many streams of one organization start at once. */
const startAtOnce = async (target: Target, count: number): Promise<number> => {
  const clients = Array.from({ length: count }, () => connect(target));
  try {
    const answers = await Promise.all(
      clients.map((client, n) => ask(target, client, { text: `stream ${n}`, stream: true })),
    );
    const firstWords = answers.map(({ firstByte }) => firstByte);
    return percentile(firstWords, 0.99);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
};

/** The time to first words if many streams start at once, relative to that of a hundred. */
export const measureStreams = async (target: Target, many: number): Promise<number> => {
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    progress(`round ${round + 1} of ${ROUNDS}: ${many} streams at once`);
    const few = await startAtOnce(target, FEW);
    ratios.push((await startAtOnce(target, many)) / many / (few / FEW));
  }
  return median(ratios);
};
