/* Tokens of RTF: groups, control words, and bytes of text. */

export type RtfToken =
  | { kind: "open" }
  | { kind: "close" }
  /** `\li720`; `value` is null without a number. Symbols such as `\~` are words of one character. */
  | { kind: "word"; name: string; value: number | null }
  /** One character per byte; line ends are not part of the text. */
  | { kind: "bytes"; bytes: string };

const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^])|([{}])|([^\\{}\r\n]+)/giy;

/** The tokens of a file, given as one character per byte. */
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
      // binary data follows unescaped
      if (word === "bin") at += Math.max(value ?? 0, 0);
      else yield { kind: "word", name: word, value };
    } else if (hex !== undefined) yield { kind: "bytes", bytes: String.fromCharCode(Number.parseInt(hex, 16)) };
    else if (symbol !== undefined) yield { kind: "word", name: symbol, value: null };
    else if (brace !== undefined) yield { kind: brace === "{" ? "open" : "close" };
    else if (text !== undefined) yield { kind: "bytes", bytes: text };
  }
}
