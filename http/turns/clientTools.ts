import { isObject } from "#events/json.ts";
import { jsonWithin } from "#events/largeJson.ts";
import type { ToolOffer } from "#events/thread.ts";
import { ApiError } from "../base/errors.ts";
import { findSchemaFault, type PatternBudget } from "./schemaLimits.ts";

/** The same limit as OpenAI's. */
const MAX_TOOLS = 128;
/** Maximum JSON size of all tools of a request. The JSON is sent to the provider with every round. */
const MAX_BYTES = 256 * 1024;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const NO_PARAMETERS = { type: "object", properties: {} };

/** A tool of the caller's own, and the request field that defines it. */
interface ClientTool extends ToolOffer {
  param: string;
}

export const invalidTools = (param: string, message: string): ApiError =>
  new ApiError("invalid_tools", `${param} ${message}`, { param });

/** Reads `{name, description?, parameters?}`. All tools of a request share one `patterns`. Throws 400 `invalid_tools`. */
export function readClientTool(definition: unknown, param: string, patterns: PatternBudget): ClientTool {
  if (!isObject(definition)) throw invalidTools(param, "must be an object with a name.");
  const { name, description, parameters } = definition;
  if (typeof name !== "string" || !NAME.test(name))
    throw invalidTools(`${param}.name`, "must be 1 to 64 letters, digits, _ or -.");
  if (description != null && typeof description !== "string")
    throw invalidTools(`${param}.description`, "must be a string.");
  const schema = parameters ?? NO_PARAMETERS;
  if (!isObject(schema)) throw invalidTools(`${param}.parameters`, "must be a JSON schema, which is an object.");
  const fault = findSchemaFault(schema, patterns);
  if (fault) throw invalidTools(`${param}.parameters`, fault);
  return { name, description: description ?? "", parameters: schema, param };
}

/**
 * Checks the number, size and names of a request's own tools. `serverTools` are the turn's other tools, whose names are taken;
 * `whenTaken` ends the error message with what to do. Throws 400 `invalid_tools`.
 */
export function checkClientTools(
  tools: ClientTool[],
  serverTools: readonly string[],
  whenTaken: (name: string) => string,
): ToolOffer[] {
  if (tools.length > MAX_TOOLS) throw invalidTools("tools", `may hold at most ${MAX_TOOLS} functions.`);
  const names = new Set<string>();
  for (const { name, param } of tools) {
    const quoted = JSON.stringify(name);
    if (serverTools.includes(name)) throw invalidTools(`${param}.name`, whenTaken(quoted));
    if (names.has(name)) throw invalidTools(`${param}.name`, `${quoted} is the name of two tools.`);
    names.add(name);
  }
  const offers = tools.map(({ param: _, ...offer }) => offer);
  const json = jsonWithin(offers, MAX_BYTES);
  if (json === undefined || Buffer.byteLength(json) > MAX_BYTES)
    throw invalidTools("tools", `may take at most ${MAX_BYTES} bytes of JSON.`);
  return offers;
}
