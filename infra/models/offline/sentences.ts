import { setImmediate as yieldToEvents } from "node:timers/promises";

/** Maximum UTF-16 units read of a text: 200,000 take 7 to 15 ms. */
export const MAX_READ = 200_000;
/** Sentences processed before other work may run: 1,000 short ones take about a millisecond. */
const SENTENCES_PER_TURN = 1_000;
const MAX_SENTENCE = 500;
/** Maximum UTF-16 units of a question. */
const MAX_QUESTION = 4_000;

const STOP_WORDS = new Set(
  "a an and are as at be by can did do does for from had has have how i in is it its me my of on or our tell that the their there they this to was we were what when where which who why will with would you your".split(
    " ",
  ),
);

/** Words cut to six letters, so that `contract` matches `contracts` and `contractual`. */
const stemWords = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => word.slice(0, 6));

const splitSentences = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim().slice(0, MAX_SENTENCE))
    .filter((sentence) => sentence !== "");

/** A sentence and the index of its text. */
export interface Quote {
  sentence: string;
  from: number;
}

/**
 * The three sentences that share most words with a question, in the order of the texts. Rare words count more.
 * Sentences without a shared word are never returned.
 */
export async function bestQuotes(texts: string[], question: string): Promise<Quote[]> {
  const sentences: (Quote & { words: Set<string> })[] = [];
  for (const [from, text] of texts.entries())
    for (const sentence of splitSentences(text.slice(0, MAX_READ))) {
      sentences.push({ sentence, from, words: new Set(stemWords(sentence)) });
      if (sentences.length % SENTENCES_PER_TURN === 0) await yieldToEvents();
    }
  const weights = weighWords(
    question,
    sentences.map(({ words }) => words),
  );
  return sentences
    .map(({ sentence, from, words }, at) => ({
      sentence,
      from,
      at,
      score: words.keys().reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) / (1 + words.size / 50),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, 3)
    .sort((a, b) => a.at - b.at)
    .map(({ sentence, from }) => ({ sentence, from }));
}

/** The weight of each word of a question, higher for words in few sentences. Takes time linear in the texts. */
function weighWords(question: string, sentences: ReadonlySet<string>[]): Map<string, number> {
  const holders = new Map(stemWords(question.slice(0, MAX_QUESTION)).map((word) => [word, 0]));
  for (const words of sentences)
    for (const word of words) {
      const count = holders.get(word);
      if (count !== undefined) holders.set(word, count + 1);
    }
  return new Map(holders.entries().map(([word, count]) => [word, Math.log(1 + sentences.length / (count + 0.5))]));
}

export const bestSentences = async (text: string, question: string): Promise<string[]> =>
  (await bestQuotes([text], question)).map(({ sentence }) => sentence);

/** The first two sentences of a text. */
export const firstSentences = (text: string): string[] => splitSentences(text.slice(0, MAX_READ)).slice(0, 2);
