/** A part of a text, as a string of its own: one of `slice` keeps the whole text in memory, which may have 100 MB. */
export const copySlice = (text: string, start: number, end: number): string =>
  Buffer.from(text.slice(start, end), "utf16le").toString("utf16le");
