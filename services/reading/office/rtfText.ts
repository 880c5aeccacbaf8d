import { isCodeStyle } from "./paragraphRole.ts";
import { decodeBytes, SYMBOL_ENCODING } from "./rtfCharset.ts";
import type { RtfReader } from "./rtfReaderState.ts";
import { addMathText } from "./rtfMath.ts";
import { signsOf } from "./symbolFont.ts";

const ADDRESS = /^\s*HYPERLINK\s+"([^"]+)"/i;

/** Text in the style table is the name of the current style. */
const nameStyle = ({ state, styles }: RtfReader, text: string): void => {
  const key = state.charStyle >= 0 ? `cs${state.charStyle}` : `s${Math.max(state.paragraph.style, 0)}`;
  styles.set(key, (styles.get(key) ?? "") + text.replace(/;.*$/s, ""));
};

/** Text in the font table is the name of the current font. */
const nameFont = ({ state, fonts }: RtfReader, text: string): void => {
  const signs = signsOf(text);
  if (signs) fonts.set(state.font, { ...fonts.get(state.font), encoding: SYMBOL_ENCODING, signs });
};

/** Characters that have a meaning only in one font, or none. */
const PRIVATE = /[\u0080-\u009F\uE000-\uF8FF]/g;

/** Text as its font displays it. Counts symbols of unknown fonts. */
const shownText = (reading: RtfReader, text: string): string => {
  const font = reading.fonts.get(reading.state.font);
  const shown = font?.signs?.(text) ?? text;
  if (font?.isSigns !== true) return shown;
  return shown.replace(PRIVATE, () => {
    reading.unknownSigns += 1;
    return "";
  });
};

/** Whether text is left out because it is hidden or deleted. Counts hidden passages. */
const isLeftOut = (reading: RtfReader, text: string): boolean => {
  const { hidden, deleted } = reading.state;
  if (deleted) return true;
  if (text.trim() === "") return hidden;
  if (hidden && !reading.isInHidden) reading.hiddenTexts += 1;
  reading.isInHidden = hidden;
  return hidden;
};

const addRun = (reading: RtfReader, text: string, spoken?: string): void => {
  const { state, fonts, styles, part } = reading;
  const { bold, italic, strikethrough: struck, superscript: raised, field } = state;
  if (text === "" || isLeftOut(reading, text)) return;
  const font = fonts.get(state.font);
  const code = font?.fixed === true || isCodeStyle(styles.get(`cs${state.charStyle}`));
  part.runs.push({
    text: shownText(reading, text),
    bold,
    italic,
    strikethrough: struck,
    superscript: raised,
    code,
    href: ADDRESS.exec(field.href)?.[1],
    reading: spoken,
  });
};

/** The description of a picture, in its place. */
export const addPicture = (reading: RtfReader, description: string): void => {
  if (!isLeftOut(reading, description)) reading.part.runs.push({ text: description, isPicture: true });
};

/** The property of a shape with its description. */
export const DESCRIPTION = "wzDescription";
/** The properties of shapes whose values are read: their description, and the text of their WordArt. */
const READ_PROPERTIES = new Set([DESCRIPTION, "gtextUNICODE"]);

/** Adds text at the current destination. `spoken`: the phonetic reading above it. */
export const addText = (reading: RtfReader, text: string, spoken?: string): void => {
  switch (reading.state.destination) {
    case "text":
      return addRun(reading, text, spoken);
    case "math":
      if (!isLeftOut(reading, text)) addMathText(reading.math, text);
      return;
    case "address":
      reading.state.field.href += text;
      return;
    case "label":
      reading.part.label += text;
      return;
    case "property":
      reading.shape.property += text;
      return;
    case "value":
      if (READ_PROPERTIES.has(reading.shape.property)) reading.shape.text += text;
      return;
    case "styles":
      return nameStyle(reading, text);
    case "fonts":
      return nameFont(reading, text);
    case "skip":
    case "copy":
    case "picture":
      return;
  }
};

/** Collects bytes until a character is complete. */
export const addBytes = (reading: RtfReader, bytes: string): void => {
  const skipped = Math.min(reading.skipCount, bytes.length);
  reading.skipCount -= skipped;
  reading.pendingBytes += bytes.slice(skipped);
};

export const flushBytes = (reading: RtfReader): void => {
  const { pendingBytes: bytes, fonts, state, encoding } = reading;
  if (bytes === "") return;
  reading.pendingBytes = "";
  addText(reading, decodeBytes(bytes, fonts.get(state.font)?.encoding ?? encoding));
};

/** Adds a UTF-16 unit, negative from 32,768 on. Its fallback for older programs follows. */
export const addUnicode = (reading: RtfReader, number: number): void => {
  const unit = String.fromCharCode(number < 0 ? number + 65_536 : number);
  reading.skipCount = reading.state.fallbackLength;
  const isFirstHalf = /[\uD800-\uDBFF]/.test(unit);
  if (!isFirstHalf) addText(reading, reading.highSurrogate + unit);
  reading.highSurrogate = isFirstHalf ? unit : "";
};
