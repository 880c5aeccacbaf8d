import { decodeText } from "./charset.ts";
import { cleanLines } from "./lines.ts";

/** The start of a line that Markdown would read as a heading, fence or quote. Lists and indented blocks are left alone. */
const LINE_MARK = /^( {0,3})(#{1,6}(?=[ \t]|$)|={2,}(?=[ \t]*$)|-{2,}(?=[ \t]*$)|```|~~~|>)/gm;
/** Escapes each `<` that would start an HTML element, because the element would be hidden. */
export const escapeTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, "\\<");

/** Escapes plain text so that Markdown shows it unchanged. */
export const escapePlain = (text: string): string => escapeTags(text.replace(LINE_MARK, "$1\\$2"));

/** Reads plain text of any encoding. */
export const readPlain = async (bytes: Uint8Array): Promise<string[]> => [escapePlain(cleanLines(decodeText(bytes)))];
