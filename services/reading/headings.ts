/** The longest title that is told as part of a section. */
const MOST = 200;
/** What is looked at of a heading's line. */
const SEEN = 1_000;

const MARKUP: [RegExp, string][] = [
  [/^\s{0,3}#{1,6}(?=\s|$)/, ""],
  [/\n[ \t]{0,3}(?:=+|-+)[ \t]*$/, ""],
  [/(?:^|\s)#+\s*$/, ""],
  [/!?\[([^[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)/g, "$1"],
  [/!?\[([^[\]]*)\]\[[^[\]]*\]/g, "$1"],
  [/<\/?[a-z][^<>]*>/gi, ""],
  [/(?<!\\)(\*{1,3}|~~|`+)/g, ""],
  [/(?<![\p{L}\p{N}\\])_{1,3}(?=\S)|(?<=[^\s\\])_{1,3}(?![\p{L}\p{N}])/gu, ""],
  [/\\([!-/:-@[-`{-~])/g, "$1"],
  [/\s+/g, " "],
];

/** A heading of Markdown as a person reads it: no marks, no links, on one line. */
export const plainHeading = (markdown: string): string => {
  const text = MARKUP.reduce((line, [marks, plain]) => line.replace(marks, plain), markdown.slice(0, SEEN)).trim();
  return text.length <= MOST ? text : `${text.slice(0, MOST).replace(/\s+\S*$|[\ud800-\udbff]$/, "")}…`;
};

/** The headings above a place in a document, outermost first. */
export type Path = { level: number; title: string }[];

export const below = (path: Path, level: number, title: string): Path => {
  const above = path.filter((heading) => heading.level < level);
  return title === "" ? above : [...above, { level, title }];
};

export const spelled = (path: Path): string | null =>
  path.length === 0 ? null : path.map(({ title }) => title).join(" > ");
