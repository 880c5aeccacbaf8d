import { findExcess } from "#events/jsonLimits.ts";
import { ToolError } from "./tool.ts";

/** UTF-16 units of the arguments of a call. The longest answers of models are half as long. */
const MAX_LENGTH = 1024 * 1024;
/** Brackets, commas, colons and strings, as `findExcess` counts them: parsed and checked in a few milliseconds. */
const MAX_TOKENS = 20_000;

/** The arguments of a model's call; no text is an empty object. Throws a ToolError that tells the model what would be right. */
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
