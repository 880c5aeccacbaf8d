/* Parts texts into sentences, in any script. */

/** Half open, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

export interface Sentence extends Span {
  /** The sentence with the space and the marks of citations around it. */
  around: Span;
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
/** A longer one is cut, so that no single comparison takes long. */
const MAX_SENTENCE = 1_000;
/** Initials, and words that a full stop abbreviates within a sentence. */
const ABBREVIATED =
  /(?:^|[\s(])(?:(?:\p{L}\.[ \u00a0]?)+|(?:Dr|Mr|Mrs|Ms|Prof|St|No|[Nn]r|[Aa]rt|Abs|Ziff|Inc|Ltd|Co|Corp|vs|[Aa]pprox|ca|bzw|cf|[Ff]ig|Eq|Sec|Ch|pp|[Vv]ol|[Ee]ds?|al|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Sra?|Mme|Av)\.)[ \u00a0]*$/u;
/** Thai and Lao end clauses with a space, and have no full stop. */
const UNSTOPPED = /[\p{Script=Thai}\p{Script=Lao}][ \u00a0]+(?=[\p{Script=Thai}\p{Script=Lao}])/gu;
/** A shorter clause stays with the next one. */
const MIN_CLAUSE = 30;

/** The ends of clauses in a segment, and its own. */
function* clauseEnds(segment: string): Generator<number> {
  let from = 0;
  for (const { 0: found, index } of segment.matchAll(UNSTOPPED)) {
    const end = index + found.length;
    if (end - from < MIN_CLAUSE) continue;
    yield end;
    from = end;
  }
  yield segment.length;
}

/** Where the sentences of a line end. */
function* sentenceEnds(line: string): Generator<number> {
  for (const { segment, index } of segmenter.segment(line)) {
    const end = index + segment.length;
    if (end < line.length && ABBREVIATED.test(line.slice(Math.max(0, end - 20), end))) continue;
    for (const clause of clauseEnds(segment)) yield index + clause;
  }
}

/** Cuts where a sentence is too long, at a space if there is one. */
function* boundedEnds(line: string): Generator<number> {
  let from = 0;
  for (const end of sentenceEnds(line)) {
    while (end - from > MAX_SENTENCE) {
      const space = line.lastIndexOf(" ", from + MAX_SENTENCE);
      from = space > from ? space + 1 : from + MAX_SENTENCE;
      yield from;
    }
    yield end;
    from = end;
  }
}

/** Lines, and the sentences in them. What is blank belongs to the sentence before it. */
export function* sentencesOf(text: string): Generator<Sentence> {
  for (const line of text.matchAll(/[^\n]+/g)) {
    let open: Sentence | undefined;
    let from = 0;
    for (const end of boundedEnds(line[0])) {
      const piece = line[0].slice(from, end);
      const trimmed = piece.trim();
      if (trimmed !== "") {
        if (open) yield open;
        const start = line.index + from + (piece.length - piece.trimStart().length);
        const around = { start: line.index + (open ? from : 0), end: line.index + end };
        open = { start, end: start + trimmed.length, around };
      } else if (open) open.around.end = line.index + end;
      from = end;
    }
    if (open) yield open;
  }
}
