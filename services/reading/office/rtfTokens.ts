/* RTF as a row of marks: groups, control words, and bytes of text. */

export type RtfToken =
  | { kind: "open" }
  | { kind: "close" }
  /** `\li720`; null where there is no number. Symbols such as `\~` are words of one sign. */
  | { kind: "word"; name: string; value: number | null }
  /** One character for each byte; line ends are not part of the text. */
  | { kind: "bytes"; bytes: string };

const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^])|([{}])|([^\\{}\r\n]+)/giy;

/** Reads the tokens of a file, given as one character for each of its bytes. */
export function* rtfTokens(source: string): Generator<RtfToken> {
  const pattern = new RegExp(TOKEN);
  let at = 0;
  while (at < source.length) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    at = found ? pattern.lastIndex : at + 1;
    if (!found) continue;
    const [, word, number, hex, symbol, brace, text] = found;
    if (word !== undefined) {
      const value = number === undefined ? null : Number(number);
      // Binary data stands in the file as it is.
      if (word === "bin") at += Math.max(value ?? 0, 0);
      else yield { kind: "word", name: word, value };
    } else if (hex !== undefined) yield { kind: "bytes", bytes: String.fromCharCode(Number.parseInt(hex, 16)) };
    else if (symbol !== undefined) yield { kind: "word", name: symbol, value: null };
    else if (brace !== undefined) yield { kind: brace === "{" ? "open" : "close" };
    else if (text !== undefined) yield { kind: "bytes", bytes: text };
  }
}
