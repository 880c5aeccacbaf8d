import { decodeText } from "./charset.ts";
import { fence } from "./fence.ts";
import { cleanLines } from "./lines.ts";

const FRONT_MATTER = /^---[ \t]*\n([\s\S]{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Reads Markdown as it is. Its front matter becomes a code block, because its last line would be a heading otherwise. */
export const readMarkdown = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeText(bytes));
  return [text.replace(FRONT_MATTER, (_, matter: string) => `${fence(matter, "yaml")}\n\n`)];
};
