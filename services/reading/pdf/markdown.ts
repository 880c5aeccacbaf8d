/** What may have to be escaped. Most text has none of it, and the expressions below look at what surrounds each character. */
const MARKUP = /[\\`*_<\]]/;

/** Escapes characters that would be markup: emphasis, code, links, tags. */
export const escapeInline = (text: string): string => (MARKUP.test(text) ? escapeMarkup(text) : text);

const escapeMarkup = (text: string): string =>
  text
    .replace(/\\(?=[\\`*_[\]<>#|])/g, "\\\\")
    .replace(/`/g, "\\`")
    .replace(/\*(?=\S)|(?<=\S)\*/g, "\\*")
    .replace(/(?<![\p{L}\p{N}])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?=[a-z/!?])/gi, "\\<")
    .replace(/\](?=\()/g, "\\]");

/** A link, or the text alone if it is the address. `markdown`: the text with its markup. */
export const toLink = (url: string, text: string, markdown: string): string => {
  const address = url.replace(
    /[\s<>()\\]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  const bare = (one: string): string => one.replace(/^mailto:|^https?:\/\/|\/$/g, "").toLowerCase();
  return bare(url) === bare(text) || markdown === ""
    ? markdown
    : `[${markdown.replace(/(?<!\\)[[\]]/g, "\\$&")}](${address})`;
};

/** Escapes the start of a paragraph that would make it a heading, list, quote or rule. */
export const escapeStart = (text: string): string =>
  text.replace(/^(?=#{1,6} |[-+>] |[=-]{3,}$|~~~)/, "\\").replace(/^(\d{1,9})(?=[.)] )/, "$1\\");

/** A Markdown table; the first row is its header. */
export const toTable = (rows: readonly (readonly string[])[]): string => {
  const columns = Math.max(...rows.map((row) => row.length));
  const cell = (text: string): string =>
    text
      .trim()
      .replace(/\\?\|/g, "\\|")
      .replace(/\s*\n\s*/g, "<br>");
  const line = (row: readonly string[]): string =>
    `| ${Array.from({ length: columns }, (_, i) => cell(row[i] ?? "")).join(" | ")} |`;
  return [line(rows[0]!), `|${" --- |".repeat(columns)}`, ...rows.slice(1).map(line)].join("\n");
};
