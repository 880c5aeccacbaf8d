import type { JudgedQuestion } from "./questions.ts";

/** nDCG@10 of a ranking of texts: 1 when the passages with the answers come first. */
export const ndcg = (ranking: string[], [, ...answers]: JudgedQuestion): number => {
  const gain = (rank: number): number => 1 / Math.log2(rank + 2);
  const gained = ranking
    .slice(0, 10)
    .reduce((sum, text, rank) => (answers.some((answer) => text.includes(answer)) ? sum + gain(rank) : sum), 0);
  const best = answers.reduce((sum, _, rank) => sum + gain(rank), 0);
  return gained / best;
};
