import { toMarkdown } from "../html/toMarkdown.ts";
import { UnreadableFile } from "../reader.ts";
import { readRtfBlocks } from "./readRtfBlocks.ts";

/** Reads RTF: one Markdown text without pages. Throws UnreadableFile. */
export const readRtf = async (bytes: Uint8Array): Promise<string[]> => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (!/^\s*\{\\rtf/.test(source)) throw new UnreadableFile("The file is damaged: it is not RTF.");
  return [toMarkdown({ type: "root", children: readRtfBlocks(source) })];
};
