export type Delimiter = "\t" | ";" | "|" | ",";

/** Where two fit equally well, the one that text holds less often comes first. */
const DELIMITERS: readonly Delimiter[] = ["\t", ";", "|", ","];
const SAMPLE = 64_000;

/** The text between quotes that open at `open`, and where it ends; null when they never close. */
const quoted = (text: string, open: number): { value: string; end: number } | null => {
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

/** The records of delimited text (RFC 4180), lines ended by \n. A quote that never closes is a character like others. */
export function* recordsOf(text: string, delimiter: Delimiter): Generator<string[]> {
  const bare = new RegExp(`[^${delimiter === "|" ? "\\|" : delimiter}\\n]*`, "y");
  let record: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const inner = text[at] === '"' ? quoted(text, at) : null;
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

/** How alike the records are in length, 0 where there is only one column. */
const fit = (sample: string, delimiter: Delimiter): number => {
  const lengths = [...recordsOf(sample, delimiter)].slice(0, 100).map((record) => record.length);
  const counts = new Map<number, number>();
  for (const length of lengths) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [usual = 1, times = 0] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  return usual === 1 ? 0 : times / lengths.length;
};

/** The delimiter that cuts the first records into the most equal pieces. */
export const delimiterOf = (text: string): Delimiter => {
  const end = text.length > SAMPLE ? text.lastIndexOf("\n", SAMPLE) : text.length;
  const sample = text.slice(0, end > 0 ? end : SAMPLE);
  const fits = DELIMITERS.map((delimiter) => fit(sample, delimiter));
  const best = Math.max(...fits);
  return best === 0 ? "," : DELIMITERS[fits.indexOf(best)]!;
};
