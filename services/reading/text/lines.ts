/** Normalizes line ends to \n. Form feeds separate paragraphs; other control characters are dropped. */
export const cleanLines = (text: string): string =>
  text
    .replace(/\r\n?|[\u0085\u2028]/g, "\n")
    .replace(/[\f\u2029]/g, "\n\n")
    // oxlint-disable-next-line no-control-regex -- the pattern removes them
    .replace(/[\0-\x08\x0b\x0e-\x1f\x7f]/g, "");

/** UTF-16 units. A longer line is for machines rather than people. */
const LONG_LINE = 400;

export const hasLongLine = (text: string): boolean => text.split("\n").some((line) => line.length > LONG_LINE);
