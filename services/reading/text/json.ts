import { decodeText } from "./charset.ts";
import { fence } from "./fence.ts";
import { cleanLines, hasLongLine } from "./lines.ts";

/** TypeScript has no types for these yet. They keep each number as it is written, even beyond 2^53. */
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
};

const indent = (text: string): string => {
  try {
    const value = parse(text, (_, part, { source }) =>
      typeof part === "number" && source !== undefined ? rawJSON(source) : part,
    );
    return JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
};

/** Reads JSON as a code block, indented if it has long lines. Invalid JSON stays as it is. */
export const readJson = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeText(bytes)).trim();
  return text === "" ? [""] : [fence(hasLongLine(text) ? indent(text) : text, "json")];
};
