/** One character, but no quote. */
export type Delimiter = string;

/** Of two that fit equally well the first wins: the one that is rarer in text. */
const DELIMITERS: readonly Delimiter[] = ["\t", ";", "|", ","];
/** UTF-16 units that decide about the delimiter. */
const SAMPLE = 64_000;

/** The quoted text that starts at `open`, and its end; null if the quote is never closed. */
const readQuoted = (text: string, open: number): { value: string; end: number } | null => {
  let value = "";
  for (let from = open + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return null;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
};

/** The records of delimited text (RFC 4180) with \n line ends. A quote that is never closed is an ordinary character. */
export function* parseRecords(text: string, delimiter: Delimiter): Generator<string[]> {
  const bare = new RegExp(`[^${delimiter.replace(/[\\\]^-]/, "\\$&")}\\n]*`, "y");
  let record: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const inner = text[at] === '"' ? readQuoted(text, at) : null;
    bare.lastIndex = inner?.end ?? at;
    const rest = bare.exec(text)?.[0] ?? "";
    record.push(inner ? inner.value + rest : rest);
    at = bare.lastIndex;
    if (text[at] === delimiter) {
      if (at === text.length - 1) record.push("");
      continue;
    }
    yield record;
    record = [];
  }
  if (record.length > 0) yield record;
}

/** The share of records with the most common number of fields; 0 for a single column. */
const regularity = (sample: string, delimiter: Delimiter): number => {
  const lengths = [...parseRecords(sample, delimiter)].slice(0, 100).map((record) => record.length);
  const counts = new Map<number, number>();
  for (const length of lengths) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [usual = 1, times = 0] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  return usual === 1 ? 0 : times / lengths.length;
};

/** The delimiter that gives the most regular records. */
export const detectDelimiter = (text: string): Delimiter => {
  const end = text.length > SAMPLE ? text.lastIndexOf("\n", SAMPLE) : text.length;
  const sample = text.slice(0, end > 0 ? end : SAMPLE);
  const fits = DELIMITERS.map((delimiter) => regularity(sample, delimiter));
  const best = Math.max(...fits);
  return best === 0 ? "," : DELIMITERS[fits.indexOf(best)]!;
};
