import { findExcess } from "#events/jsonLimits.ts";
import { ToolError } from "./tool.ts";

/** Maximum UTF-16 units of a call's arguments: twice the longest answer of a model. */
const MAX_LENGTH = 1024 * 1024;
/** Brackets, commas, colons and strings, as `findExcess` counts them. This many take a few milliseconds to parse and check. */
const MAX_TOKENS = 20_000;

/** Parses the arguments of a model's call; an empty text is an empty object. Throws a ToolError that tells the model how to correct them. */
export function parseArguments(text: string): unknown {
  if (text.length > MAX_LENGTH) throw new ToolError("The arguments are longer than 1,048,576 characters.");
  const excess = findExcess(Buffer.from(text), MAX_TOKENS);
  if (excess) throw new ToolError(`The JSON of the arguments ${excess}.`);
  try {
    return JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (error) {
    throw new ToolError("The arguments are not valid JSON; send one JSON object.", { cause: error });
  }
}
