/** One kind of line end; form feeds separate paragraphs; other control characters are dropped. */
export const cleanLines = (text: string): string =>
  text
    .replace(/\r\n?|[\u0085\u2028]/g, "\n")
    .replace(/[\f\u2029]/g, "\n\n")
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    .replace(/[\0-\x08\x0b\x0e-\x1f\x7f]/g, "");
