import { isCodeStyle } from "./meaning.ts";
import { decodeBytes } from "./rtfCharset.ts";
import type { Reading } from "./rtfReading.ts";

const ADDRESS = /^\s*HYPERLINK\s+"([^"]+)"/i;

/** In the table of styles, text is the name of the style that is described. */
const nameStyle = ({ state, styles }: Reading, text: string): void => {
  const key = state.charStyle >= 0 ? `cs${state.charStyle}` : `s${Math.max(state.paragraph.style, 0)}`;
  styles.set(key, (styles.get(key) ?? "") + text.replace(/;.*$/s, ""));
};

const showText = ({ state, fonts, styles, part }: Reading, text: string): void => {
  const { bold, italic, struck, raised, hidden, field } = state;
  if (hidden || text === "") return;
  const code = fonts.get(state.font)?.fixed === true || isCodeStyle(styles.get(`cs${state.charStyle}`));
  part.runs.push({ text, bold, italic, struck, raised, code, href: ADDRESS.exec(field.href)?.[1] });
};

/** Puts text where the state says that it goes. */
export const addText = (reading: Reading, text: string): void => {
  switch (reading.state.place) {
    case "text":
      return showText(reading, text);
    case "address":
      reading.state.field.href += text;
      return;
    case "label":
      reading.part.label += text;
      return;
    case "styles":
      return nameStyle(reading, text);
    case "fonts":
    case "skip":
      return;
  }
};

/** Keeps bytes until all that belong together have come. */
export const addBytes = (reading: Reading, bytes: string): void => {
  const skipped = Math.min(reading.standIns, bytes.length);
  reading.standIns -= skipped;
  reading.bytes += bytes.slice(skipped);
};

export const decodeKept = (reading: Reading): void => {
  const { bytes, fonts, state, encoding } = reading;
  if (bytes === "") return;
  reading.bytes = "";
  addText(reading, decodeBytes(bytes, fonts.get(state.font)?.encoding ?? encoding));
};

/** A sign by its number in Unicode, negative from 32,768 on; its stand-in for older programs follows. */
export const addUnicode = (reading: Reading, number: number): void => {
  const unit = String.fromCharCode(number < 0 ? number + 65_536 : number);
  reading.standIns = reading.state.standIns;
  const isFirstHalf = /[\uD800-\uDBFF]/.test(unit);
  if (!isFirstHalf) addText(reading, reading.half + unit);
  reading.half = isFirstHalf ? unit : "";
};
