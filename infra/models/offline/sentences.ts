/** Reading 200,000 characters takes 7 to 15 ms; of a longer text only so much is read. */
const MAX_READ = 200_000;
const MAX_SENTENCE = 500;

const COMMON = new Set(
  "a an and are as at be by can did do does for from had has have how i in is it its me my of on or our tell that the their there they this to was we were what when where which who why will with would you your".split(
    " ",
  ),
);

/** Words are cut to six letters, so that `contract` finds `contracts` and `contractual`. */
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !COMMON.has(word))
    .map((word) => word.slice(0, 6));

const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim().slice(0, MAX_SENTENCE))
    .filter((sentence) => sentence !== "");

/** A sentence and which of the texts it is from. */
export interface Quote {
  sentence: string;
  from: number;
}

/**
 * The sentences of some texts (three by default) that share most with a question, in the order of the texts.
 * A word counts for more the fewer sentences hold it. None shares a word: none is returned.
 */
export function bestQuotes(texts: string[], question: string, limit = 3): Quote[] {
  const sentences = texts.flatMap((text, from) =>
    sentencesOf(text.slice(0, MAX_READ)).map((sentence) => ({ sentence, from, words: new Set(wordsOf(sentence)) })),
  );
  const weights = [...new Set(wordsOf(question))].map((word) => {
    const holders = sentences.filter(({ words }) => words.has(word)).length;
    return { word, weight: Math.log(1 + sentences.length / (holders + 0.5)) };
  });
  return sentences
    .map(({ sentence, from, words }, at) => ({
      sentence,
      from,
      at,
      score: weights.reduce((sum, { word, weight }) => sum + (words.has(word) ? weight : 0), 0) / (1 + words.size / 50),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, limit)
    .sort((a, b) => a.at - b.at)
    .map(({ sentence, from }) => ({ sentence, from }));
}

export const bestSentences = (text: string, question: string): string[] =>
  bestQuotes([text], question).map(({ sentence }) => sentence);

/** How a text begins. */
export const firstSentences = (text: string, limit = 2): string[] =>
  sentencesOf(text.slice(0, MAX_READ)).slice(0, limit);
