/** Maximum UTF-16 units of a title; a longer one is cut. */
const MAX_TITLE = 200;
/** Maximum UTF-16 units of a heading's line that are examined. */
const MAX_SCANNED = 1_000;

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

/** The text of a Markdown heading, without markup and links, on one line. */
export const plainHeading = (markdown: string): string => {
  const text = MARKUP.reduce(
    (line, [marks, plain]) => line.replace(marks, plain),
    markdown.slice(0, MAX_SCANNED),
  ).trim();
  return text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE).replace(/\s+\S*$|[\ud800-\udbff]$/, "")}…`;
};

/** The headings above a position in a document, outermost first. */
export type HeadingPath = { level: number; title: string }[];

/** The path below a new heading; an empty title only closes the deeper headings. */
export const withHeading = (path: HeadingPath, level: number, title: string): HeadingPath => {
  const above = path.filter((heading) => heading.level < level);
  return title === "" ? above : [...above, { level, title }];
};

/** `Guide > Install`; null for an empty path. */
export const formatPath = (path: HeadingPath): string | null =>
  path.length === 0 ? null : path.map(({ title }) => title).join(" > ");
