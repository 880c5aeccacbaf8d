/** Words that the double takes for one. */
const SYNONYMS = [
  ["car", "automobile", "vehicle"],
  ["salary", "wage", "pay", "remuneration"],
  ["doctor", "physician"],
  ["holiday", "vacation", "leave"],
];
const MEANINGS = new Map(SYNONYMS.flatMap((words) => words.map((word) => [word, words[0]!] as const)));
const STOP_WORDS = new Set(
  "a an and are at be by for from has in is it of on or that the to was were will with".split(" "),
);

const hash = (text: string): number => {
  let value = 2_166_136_261;
  for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 16_777_619);
  return value >>> 0;
};

/** The word itself counts most; its parts make forms of one word similar. */
function* featuresOf(word: string): Generator<[feature: string, weight: number]> {
  yield [word, 1];
  const padded = `<${word}>`;
  for (let n = 0; n + 4 <= padded.length; n++) yield [padded.slice(n, n + 4), 0.3];
}

/** A simple embedding: hashed words and parts of words, where synonyms are one word. The same text has the same vector everywhere. */
export function textVector(text: string, dimensions: number): number[] {
  const vector: number[] = Array(dimensions).fill(0);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const counts = new Map<string, number>();
  for (const word of words) {
    if (STOP_WORDS.has(word)) continue;
    const meaning = MEANINGS.get(word) ?? MEANINGS.get(word.replace(/s$/, "")) ?? word;
    for (const [feature, weight] of featuresOf(meaning)) counts.set(feature, (counts.get(feature) ?? 0) + weight);
  }
  for (const [feature, count] of counts) {
    const at = hash(feature);
    vector[at % dimensions]! += (at & 0x10000 ? 1 : -1) * Math.sqrt(count);
  }
  // a text without words has a direction, too
  if (counts.size === 0) vector[0] = 1;
  return vector;
}
