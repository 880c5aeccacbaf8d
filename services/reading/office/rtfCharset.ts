/** Encodings by a font's `\fcharset`. */
const CHARSETS: Record<number, string> = {
  77: "macintosh",
  128: "shift_jis",
  129: "euc-kr",
  134: "gb18030",
  136: "big5",
  161: "windows-1253",
  162: "windows-1254",
  163: "windows-1258",
  177: "windows-1255",
  178: "windows-1256",
  186: "windows-1257",
  204: "windows-1251",
  222: "windows-874",
  238: "windows-1250",
};

const CODE_PAGES: Record<number, string> = {
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gb18030",
  949: "euc-kr",
  950: "big5",
  10_000: "macintosh",
  65_001: "utf-8",
};

export const charsetEncoding = (charset: number): string | undefined => CHARSETS[charset];

export const codePageEncoding = (page: number): string =>
  CODE_PAGES[page] ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : "windows-1252");

const decoders = new Map<string, TextDecoder>();

/** Bytes without a letter: each is the number of a symbol. */
export const SYMBOL_ENCODING = "raw";

/** Decodes bytes that are given as one character each. */
export const decodeBytes = (bytes: string, encoding: string): string => {
  if (encoding === SYMBOL_ENCODING) return bytes;
  const decoder = decoders.get(encoding) ?? new TextDecoder(encoding);
  decoders.set(encoding, decoder);
  return decoder.decode(Buffer.from(bytes, "latin1"));
};
