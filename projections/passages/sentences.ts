/* Splits texts of any script into sentences. */

/** Half-open range in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

export interface Sentence extends Span {
  /** The sentence including adjacent spaces and citation marks. */
  around: Span;
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
/** Longer sentences are split, so that no single comparison takes long. */
const MAX_SENTENCE = 1_000;
/** Initials and abbreviations whose full stop does not end a sentence. */
const ABBREVIATED =
  /(?:^|[\s(])(?:(?:\p{L}\.[ \u00a0]?)+|(?:Dr|Mr|Mrs|Ms|Prof|St|No|[Nn]r|[Aa]rt|Abs|Ziff|Inc|Ltd|Co|Corp|vs|[Aa]pprox|ca|bzw|cf|[Ff]ig|Eq|Sec|Ch|pp|[Vv]ol|[Ee]ds?|al|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Sra?|Mme|Av)\.)[ \u00a0]*$/u;
/** Thai and Lao have no full stop: a space ends a clause. */
const UNSTOPPED = /[\p{Script=Thai}\p{Script=Lao}][ \u00a0]+(?=[\p{Script=Thai}\p{Script=Lao}])/gu;
/** Shorter clauses are joined with the next one. */
const MIN_CLAUSE = 30;

/** Yields the ends of clauses in a segment, and the segment's end. */
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

/** Yields the ends of sentences in a line. */
function* sentenceEnds(line: string): Generator<number> {
  for (const { segment, index } of segmenter.segment(line)) {
    const end = index + segment.length;
    if (end < line.length && ABBREVIATED.test(line.slice(Math.max(0, end - 20), end))) continue;
    for (const clause of clauseEnds(segment)) yield index + clause;
  }
}

/** Also cuts sentences that are too long, at a space if possible. */
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

/** Yields sentences line by line. Blank text belongs to the sentence before it. */
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
