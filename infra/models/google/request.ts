import {
  FunctionCallingConfigMode,
  ThinkingLevel,
  type FunctionCallingConfig,
  type GenerateContentConfig,
  type GenerateContentParameters,
} from "@google/genai";
import type { ModelRequest } from "#services/turns/model.ts";
import { toContents } from "./contents.ts";
import type { ModelFacts } from "./facts.ts";

/** Google reads pages itself (spec: built-in tool names): its own tool replaces this one. */
const WEB_FETCH = "web_fetch";

/** Every model with levels has LOW and HIGH. Not every one has MINIMAL, and none goes above HIGH. */
const LEVELS = new Map<string, ThinkingLevel>([
  ["none", ThinkingLevel.LOW],
  ["minimal", ThinkingLevel.LOW],
  ["low", ThinkingLevel.LOW],
  ["medium", ThinkingLevel.MEDIUM],
  ["high", ThinkingLevel.HIGH],
  ["xhigh", ThinkingLevel.HIGH],
  ["max", ThinkingLevel.HIGH],
]);
/** Older models have no levels, and require no signatures. */
const OLDER = /^gemini-[12]\b/;

/** A summary of the thoughts costs nothing extra, but models that do not think refuse a request for it. */
function thinkingConfig({ model, reasoning_effort }: ModelRequest, { thinks }: ModelFacts): GenerateContentConfig {
  const thinkingLevel = OLDER.test(model) ? undefined : LEVELS.get(reasoning_effort ?? "");
  const includesThoughts = thinks ?? thinkingLevel !== undefined;
  return includesThoughts ? { thinkingConfig: { includeThoughts: true, ...(thinkingLevel && { thinkingLevel }) } } : {};
}

/** Only functions can be forced, not Google's own tools. */
function functionCalling({ tool_choice }: ModelRequest, names: string[]): FunctionCallingConfig | undefined {
  if (names.length === 0) return undefined;
  if (tool_choice === "required") return { mode: FunctionCallingConfigMode.ANY };
  if (typeof tool_choice !== "object" || !names.includes(tool_choice.name)) return undefined;
  return { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [tool_choice.name] };
}

function toolParams(request: ModelRequest): GenerateContentConfig {
  const functions = request.tools.filter(({ name }) => name !== WEB_FETCH);
  const readsPages = functions.length < request.tools.length;
  const functionDeclarations = functions.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  const functionCallingConfig = functionCalling(
    request,
    functions.map(({ name }) => name),
  );
  const toolConfig = {
    ...(functionCallingConfig && { functionCallingConfig }),
    // functions and Google's own tool go together only if its results come back in the next round
    ...(readsPages && functions.length > 0 && { includeServerSideToolInvocations: true }),
  };
  return {
    tools: [...(functions.length > 0 ? [{ functionDeclarations }] : []), ...(readsPages ? [{ urlContext: {} }] : [])],
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
  };
}

function formatConfig({ response_format }: ModelRequest): GenerateContentConfig {
  if (response_format.type === "text") return {};
  const schema = response_format.type === "json_schema" ? response_format.json_schema.schema : undefined;
  return { responseMimeType: "application/json", ...(schema && { responseJsonSchema: schema }) };
}

/** A request to generate content; unset options are absent. */
export function toGenerateParams(request: ModelRequest, facts: ModelFacts): GenerateContentParameters {
  const { instructions, max_output_tokens, model, seed, stop, temperature, tools, top_p } = request;
  return {
    model,
    contents: toContents(request.messages, facts.thinks !== false && !OLDER.test(model)),
    config: {
      ...(instructions !== null && { systemInstruction: instructions }),
      ...(temperature !== null && { temperature }),
      ...(top_p !== null && { topP: top_p }),
      ...(max_output_tokens !== null && { maxOutputTokens: Math.min(max_output_tokens, facts.max_tokens ?? Infinity) }),
      ...(stop.length > 0 && { stopSequences: stop }),
      // the API takes 32 bits
      ...(seed !== null && { seed: seed | 0 }),
      ...formatConfig(request),
      ...thinkingConfig(request, facts),
      ...(tools.length > 0 && toolParams(request)),
    },
  };
}
