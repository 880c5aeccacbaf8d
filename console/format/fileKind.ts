/** Parts of media types and the usual names of such files. The first match counts. */
const WORDS: readonly [part: string, word: string][] = [
  ["pdf", "PDF"],
  ["presentation", "presentation"],
  ["spreadsheet", "spreadsheet"],
  ["ms-excel", "spreadsheet"],
  ["ms-powerpoint", "presentation"],
  ["wordprocessingml", "Word document"],
  ["msword", "Word document"],
  ["opendocument.text", "text document"],
  ["rtf", "text document"],
  ["epub", "book"],
  ["html", "web page"],
  ["rfc822", "e-mail"],
  ["ms-outlook", "e-mail"],
  ["markdown", "Markdown"],
  ["csv", "table"],
  ["tab-separated", "table"],
  ["json", "JSON"],
  ["xml", "XML"],
  ["image/", "picture"],
  ["text/plain", "text"],
];

/** The type of a file in a word, such as "presentation" or "PDF"; the media type if there is none. */
export const fileKind = (mediaType: string): string =>
  WORDS.find(([part]) => mediaType.includes(part))?.[1] ?? mediaType;
