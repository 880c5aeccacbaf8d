import { isKnownSymbol } from "./characters.ts";

/** Minimum characters of a page for a judgement. */
const MIN_CHARACTERS = 20;
/** Shares of a page's characters that indicate a font without a map to Unicode. Real text has no control characters. */
const MAX_CONTROL = 0.08;
const MAX_UNKNOWN = 0.3;

const CONTROL = /\p{Cc}/u;
const UNKNOWN = /[\p{Co}\p{Cn}\uFFFD]/u;
/** Characters of CONTROL and UNKNOWN. Most texts have none, and are counted without looking at each character. */
const DOUBTFUL = /[\p{Cc}\p{Co}\p{Cn}\uFFFD]/u;

/** Counts the characters of a page that represent no letter. */
export function createSymbolCount() {
  let [all, control, unknown] = [0, 0, 0];
  return {
    add(text: string): void {
      if (!DOUBTFUL.test(text)) {
        all += text.replaceAll(" ", "").length;
        return;
      }
      for (const sign of text) {
        if (sign.trim() === "" || isKnownSymbol(sign)) continue;
        all++;
        if (CONTROL.test(sign)) control++;
        else if (UNKNOWN.test(sign)) unknown++;
      }
    },
    /** Whether so many characters represent no letter that words are missing. */
    isUnreadable: (): boolean =>
      all >= MIN_CHARACTERS && (control / all > MAX_CONTROL || (control + unknown) / all > MAX_UNKNOWN),
  };
}
