/** Ligatures, Hebrew and Arabic presentation forms, Kangxi radicals: only for these does NFKC keep the meaning. */
const FORMS = /[\uFB00-\uFB06\uFB13-\uFB17\uFB1D-\uFDFF\uFE70-\uFEFC\u2F00-\u2FD5]/g;
/** Private-use characters of symbol fonts, as office programs use them. */
const SYMBOLS: Record<string, string> = {
  "\uF0B7": "•",
  "\uF0A7": "▪",
  "\uF0A8": "◻",
  "\uF06E": "■",
  "\uF06F": "□",
  "\uF071": "❑",
  "\uF076": "❖",
  "\uF0FE": "☒",
  "\uF0D8": "➢",
  "\uF0FC": "✓",
  "\uF0E0": "→",
  "\uF02D": "-",
  "\uE00C": "•",
};
export const isKnownSymbol = (sign: string): boolean => Object.hasOwn(SYMBOLS, sign);

const INVISIBLE = /[\p{Cc}\p{Cs}\u200B\u2060\uFEFF\uFFF9-\uFFFD]/gu;

/** Accents that old TeX fonts print as separate characters before the letter, and their combining characters. */
const ACCENTS: Record<string, string> = {
  "¨": "\u0308",
  "´": "\u0301",
  ˆ: "\u0302",
  "˜": "\u0303",
  ˇ: "\u030C",
  "˘": "\u0306",
  "˚": "\u030A",
  "¸": "\u0327",
};

const combineAccent = (pair: string, accent: string, letter: string): string => {
  const whole = (letter === "ı" ? "i" : letter === "ȷ" ? "j" : letter) + ACCENTS[accent]!;
  return whole.normalize("NFC").length === 1 ? whole : pair;
};

/** Most text needs no change, and this check takes a twentieth of the time. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The text of a run in characters that a search can match. */
export const normalizeText = (text: string): string => (PRINTABLE_ASCII.test(text) ? text : normalizeSigns(text));

const normalizeSigns = (text: string): string =>
  (/^[\uF000-\uF0FF]$/.test(text) ? (SYMBOLS[text] ?? "•") : text)
    .replace(/[\t\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ")
    .replace(FORMS, (form) => form.normalize("NFKC"))
    .replace(/[\uE000-\uF8FF]/g, (sign) => SYMBOLS[sign] ?? "")
    .replace(INVISIBLE, "")
    .replace(/([¨ˆ˜ˇ˘˚¸]|(?<![cdjlmnqstu])´) ?([A-Za-zıȷ])/g, combineAccent)
    .normalize("NFC");
