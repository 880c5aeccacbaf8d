import type { Warn } from "../reader.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";
import { decodeText } from "./charset.ts";
import { withoutEmbeddedPictures } from "./embeddedPictures.ts";
import { fence } from "./fence.ts";
import { cleanLines } from "./lines.ts";

const FRONT_MATTER = /^---[ \t]*\n([\s\S]{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/**
 * Reads Markdown as it is, but without the bytes of pictures. Its front matter becomes a code block, because its last line would be a heading
 * otherwise.
 */
export const readMarkdown = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const { text, pictures } = withoutEmbeddedPictures(cleanLines(decodeText(bytes)));
  warnOfCount(warn, "images_without_text", pictures);
  return [text.replace(FRONT_MATTER, (_, matter: string) => `${fence(matter, "yaml")}\n\n`)];
};
