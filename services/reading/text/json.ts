import { decodeText } from "./charset.ts";
import { fence } from "./fence.ts";
import { cleanLines } from "./lines.ts";

/** A longer line was written for machines. */
const LONG_LINE = 400;

/** TypeScript does not know these two yet: they keep numbers as they are written, beyond 2^53 as well. */
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

const hasLongLine = (text: string): boolean => text.split("\n").some((line) => line.length > LONG_LINE);

/** JSON as a block of code, indented where it was not. What is not valid stays as it is. */
export const readJson = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeText(bytes)).trim();
  return text === "" ? [""] : [fence(hasLongLine(text) ? indent(text) : text, "json")];
};
