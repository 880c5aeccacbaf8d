import { toMarkdown } from "../html/toMarkdown.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";
import { readRtfBlocks } from "./readRtfBlocks.ts";

const count = (source: string, pattern: RegExp): number => source.match(pattern)?.length ?? 0;

/** Warns of what the text leaves out. Pictures are stored twice for older programs, once within `nonshppict`. */
const warnOfParts = (warn: Warn, source: string): void => {
  warnOfCount(warn, "tracked_changes_left_out", count(source, /\\deleted(?![a-z\d])/g));
  warnOfCount(warn, "comments_left_out", count(source, /\{\\\*\\annotation(?![a-z])/g));
  warnOfCount(
    warn,
    "images_without_text",
    count(source, /\{\\pict(?![a-z])/g) - count(source, /\{\\nonshppict(?![a-z])/g),
  );
};

/** Reads RTF: one Markdown text without pages. Throws UnreadableFile. */
export const readRtf = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (!/^\s*\{\\rtf/.test(source)) throw new UnreadableFile("The file is damaged: it is not RTF.");
  warnOfParts(warn, source);
  return [toMarkdown({ type: "root", children: readRtfBlocks(source) })];
};
