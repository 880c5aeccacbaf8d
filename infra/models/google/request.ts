import type { Content } from "@google/genai";
import type { ModelRequest } from "#services/turns/model.ts";
import { toContents } from "./contents.ts";
import type { ModelFacts } from "./facts.ts";

/** Google reads pages itself (spec: built-in tool names): its tool replaces the server's, but never one of the caller's. */
const isPageTool = ({ client_tools = [] }: ModelRequest, name: string): boolean =>
  name === "web_fetch" && !client_tools.includes(name);

/** Every model with levels has LOW and HIGH, some also MINIMAL; none goes above HIGH. */
const LEVELS = new Map([
  ["none", "LOW"],
  ["minimal", "LOW"],
  ["low", "LOW"],
  ["medium", "MEDIUM"],
  ["high", "HIGH"],
  ["xhigh", "HIGH"],
  ["max", "HIGH"],
]);
/** Older models have no levels, and require no signatures. */
const OLDER = /^gemini-[12]\b/;

/** A summary of thoughts costs nothing extra, but models that do not think refuse to give one. */
function thinkingConfig({ model, reasoning_effort }: ModelRequest, { thinks }: ModelFacts): object {
  const thinkingLevel = OLDER.test(model) ? undefined : LEVELS.get(reasoning_effort ?? "");
  const includesThoughts = thinks ?? thinkingLevel !== undefined;
  return includesThoughts ? { thinkingConfig: { includeThoughts: true, ...(thinkingLevel && { thinkingLevel }) } } : {};
}

/** Only functions can be forced, not Google's own tools. */
function functionCalling({ tool_choice }: ModelRequest, names: string[]): object | undefined {
  if (names.length === 0) return undefined;
  if (tool_choice === "required") return { mode: "ANY" };
  if (typeof tool_choice !== "object" || !names.includes(tool_choice.name)) return undefined;
  return { mode: "ANY", allowedFunctionNames: [tool_choice.name] };
}

function toolParams(request: ModelRequest): object {
  const functions = request.tools.filter(({ name }) => !isPageTool(request, name));
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
    // functions can be combined with Google's own tool only if its results come back in the next round
    ...(readsPages && functions.length > 0 && { includeServerSideToolInvocations: true }),
  };
  return {
    tools: [...(functions.length > 0 ? [{ functionDeclarations }] : []), ...(readsPages ? [{ urlContext: {} }] : [])],
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
  };
}

function formatConfig({ response_format }: ModelRequest): object {
  if (response_format.type === "text") return {};
  const schema = response_format.type === "json_schema" ? response_format.json_schema.schema : undefined;
  return { responseMimeType: "application/json", ...(schema && { responseJsonSchema: schema }) };
}

interface RequestBody {
  contents: Content[];
  systemInstruction?: Content;
  generationConfig: object;
}

/** The body of a request to generate content; unset options are absent. */
export function toRequestBody(request: ModelRequest, facts: ModelFacts): RequestBody {
  const { instructions, max_output_tokens, model, seed, stop, temperature, tools, top_p } = request;
  return {
    contents: toContents(request.messages, facts.thinks !== false && !OLDER.test(model)),
    ...(instructions !== null && { systemInstruction: { role: "user", parts: [{ text: instructions }] } }),
    generationConfig: {
      ...(temperature !== null && { temperature }),
      ...(top_p !== null && { topP: top_p }),
      ...(max_output_tokens !== null && { maxOutputTokens: Math.min(max_output_tokens, facts.max_tokens ?? Infinity) }),
      ...(stop.length > 0 && { stopSequences: stop }),
      // the API takes 32 bits
      ...(seed !== null && { seed: seed | 0 }),
      ...formatConfig(request),
      ...thinkingConfig(request, facts),
    },
    ...(tools.length > 0 && toolParams(request)),
  };
}
