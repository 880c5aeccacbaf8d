import { decodeText } from "./charset.ts";
import { cleanLines } from "./lines.ts";

/** What would make a heading, a fence or a quote of a line of plain text. Lists and indented blocks are meant as such. */
const LINE_MARK = /^( {0,3})(#{1,6}(?=[ \t]|$)|={2,}(?=[ \t]*$)|-{2,}(?=[ \t]*$)|```|~~~|>)/gm;
/** What would make an element of a word, and hide it. */
const TAG = /<(?=[a-z/!?])/gi;

/** Text that reads as Markdown the way it reads as plain text. */
export const escapePlain = (text: string): string => text.replace(LINE_MARK, "$1\\$2").replace(TAG, "\\<");

/** Plain text, of any encoding: its paragraphs, none of them taken for a heading. */
export const readPlain = async (bytes: Uint8Array): Promise<string[]> => [escapePlain(cleanLines(decodeText(bytes)))];
