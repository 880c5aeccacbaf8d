import { normalizeText } from "../html/text.ts";

/** A `<` that would start an HTML element and is not part of an e-mail address. */
const TAG = /<(?=[a-z/!?])(?![^\s<>]+@[^\s<>]+>)/gi;

/** The text on one line. */
export const oneLine = (text: string): string => normalizeText(text).replace(/\s+/g, " ").trim();

/** The names and values as the lines of one paragraph: `Subject: Hi`. Fields without a value are left out. */
export const writeFields = (fields: readonly (readonly [name: string, value: string])[]): string =>
  fields
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${oneLine(value).replace(TAG, "\\<")}`)
    .join("  \n");
