/** Signs that would be markup where they stand: emphasis, code, links, tags. */
export const escapeInline = (text: string): string =>
  text
    .replace(/\\(?=[\\`*_[\]<>#|])/g, "\\\\")
    .replace(/`/g, "\\`")
    .replace(/\*(?=\S)|(?<=\S)\*/g, "\\*")
    .replace(/(?<![\p{L}\p{N}])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?=[a-z/!?])/gi, "\\<")
    .replace(/\](?=\()/g, "\\]");

/** A link; where its text is the address, the address alone. */
export const linkTo = (url: string, said: string, code: string): string => {
  const address = url.replace(/[\s<>()\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
  const bare = (text: string): string => text.replace(/^mailto:|^https?:\/\/|\/$/g, "").toLowerCase();
  return bare(url) === bare(said) || code === "" ? code : `[${code.replace(/(?<!\\)[[\]]/g, "\\$&")}](${address})`;
};

/** Escapes what would make a paragraph something else at its start. */
export const escapeStart = (text: string): string =>
  text.replace(/^(?=#{1,6} |[-+>] |[=-]{3,}$|~~~)/, "\\").replace(/^(\d{1,9})(?=[.)] )/, "$1\\");

export const table = (rows: readonly (readonly string[])[]): string => {
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

export const fence = (lines: readonly string[]): string => {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((ticks) => ticks.length)));
  const mark = "`".repeat(longest + 1);
  return [mark, ...lines, mark].join("\n");
};
