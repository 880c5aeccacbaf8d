import {
  FunctionCallingConfigMode,
  ThinkingLevel,
  type FunctionCallingConfig,
  type GenerateContentConfig,
  type GenerateContentParameters,
} from "@google/genai";
import type { ModelRequest } from "#services/turns/model.ts";
import { contentsOf } from "./contents.ts";
import type { Facts } from "./facts.ts";

/** Google reads pages itself (spec: built-in tool names): its own tool goes out instead of this one. */
const READS_PAGES = "web_fetch";

/** LOW and HIGH are levels of every model that has levels; not every one has MINIMAL, and none has more than HIGH. */
const LEVELS = new Map<string, ThinkingLevel>([
  ["none", ThinkingLevel.LOW],
  ["minimal", ThinkingLevel.LOW],
  ["low", ThinkingLevel.LOW],
  ["medium", ThinkingLevel.MEDIUM],
  ["high", ThinkingLevel.HIGH],
  ["xhigh", ThinkingLevel.HIGH],
  ["max", ThinkingLevel.HIGH],
]);
/** Models of before there were levels. */
const WITHOUT_LEVELS = /^gemini-[12]\b/;

/** A summary of its thoughts costs nothing on top of them, but models that do not think refuse to be asked for it. */
function thinkingOf({ model, reasoning_effort }: ModelRequest, { thinks }: Facts): GenerateContentConfig {
  const thinkingLevel = WITHOUT_LEVELS.test(model) ? undefined : LEVELS.get(reasoning_effort ?? "");
  const asks = thinks ?? thinkingLevel !== undefined;
  return asks ? { thinkingConfig: { includeThoughts: true, ...(thinkingLevel && { thinkingLevel }) } } : {};
}

/** Only functions can be forced. */
function callingOf({ tool_choice }: ModelRequest, names: string[]): FunctionCallingConfig | undefined {
  if (names.length === 0) return undefined;
  if (tool_choice === "required") return { mode: FunctionCallingConfigMode.ANY };
  if (typeof tool_choice !== "object" || !names.includes(tool_choice.name)) return undefined;
  return { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [tool_choice.name] };
}

function toolsOf(request: ModelRequest): GenerateContentConfig {
  const functions = request.tools.filter(({ name }) => name !== READS_PAGES);
  const reads = functions.length < request.tools.length;
  const functionDeclarations = functions.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  const functionCallingConfig = callingOf(
    request,
    functions.map(({ name }) => name),
  );
  const toolConfig = {
    ...(functionCallingConfig && { functionCallingConfig }),
    // the two kinds go together only where what its own tool found is shown to it again
    ...(reads && functions.length > 0 && { includeServerSideToolInvocations: true }),
  };
  return {
    tools: [...(functions.length > 0 ? [{ functionDeclarations }] : []), ...(reads ? [{ urlContext: {} }] : [])],
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
  };
}

function formatOf({ response_format }: ModelRequest): GenerateContentConfig {
  if (response_format.type === "text") return {};
  const schema = response_format.type === "json_schema" ? response_format.json_schema.schema : undefined;
  return { responseMimeType: "application/json", ...(schema && { responseJsonSchema: schema }) };
}

/** A request to generate content, with nothing in it that was not asked for. */
export function toWire(request: ModelRequest, facts: Facts): GenerateContentParameters {
  const { instructions, max_output_tokens, model, seed, stop, temperature, tools, top_p } = request;
  return {
    model,
    contents: contentsOf(request.messages),
    config: {
      ...(instructions !== null && { systemInstruction: instructions }),
      ...(temperature !== null && { temperature }),
      ...(top_p !== null && { topP: top_p }),
      ...(max_output_tokens !== null && { maxOutputTokens: Math.min(max_output_tokens, facts.max_tokens ?? Infinity) }),
      ...(stop.length > 0 && { stopSequences: stop }),
      // a number of 32 bits there
      ...(seed !== null && { seed: seed | 0 }),
      ...formatOf(request),
      ...thinkingOf(request, facts),
      ...(tools.length > 0 && toolsOf(request)),
    },
  };
}
