import { kindOf, MAX_TOKENS } from "./models.ts";

/* What the Gemini API (v1beta) refuses with 400 INVALID_ARGUMENT, with its own messages. */

type Rule = (body: any, model: string) => string | undefined;

const unknown = (field: string, at = ""): string =>
  `Invalid JSON payload received. Unknown name "${field}"${at}: Cannot find field.`;
const extraField = (object: object, known: string[]): string | undefined =>
  Object.keys(object).find((field) => !known.includes(field));

const BODY = ["contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "continuationToken"];
const CONFIG = [
  "temperature",
  "topP",
  "maxOutputTokens",
  "stopSequences",
  "seed",
  "responseMimeType",
  "responseJsonSchema",
  "thinkingConfig",
];
const PART = [
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "functionCall",
  "functionResponse",
  "toolCall",
  "toolResponse",
];

const fields: Rule = (body) => {
  const top = extraField(body, BODY);
  if (top) return unknown(top);
  const config = extraField(body.generationConfig ?? {}, CONFIG);
  if (config) return unknown(config, " at 'generation_config'");
  const part = (body.contents ?? [])
    .flatMap(({ parts }: any) => parts)
    .map((one: any) => extraField(one, PART))
    .find(Boolean);
  return part && unknown(part, " at 'contents[0].parts[0]'");
};

const contents: Rule = ({ contents: all = [] }) => {
  if (all.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  for (const { role, parts } of all) {
    if (role !== "user" && role !== "model") return "Please use a valid role: user, model.";
    if (parts.length === 0) return "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.";
  }
  return undefined;
};

const has = (kind: string) => (part: any) => part[kind] !== undefined;

const order: Rule = ({ contents: all }) => {
  for (const [n, { parts }] of all.entries()) {
    const called = parts.filter(has("functionCall"));
    if (called.length === 0) continue;
    if (all[n - 1]?.role !== "user")
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    const answered = (all[n + 1]?.parts ?? []).filter(has("functionResponse"));
    if (answered.length !== called.length)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    for (const [k, { functionCall }] of called.entries()) {
      const { id, name, response } = answered[k].functionResponse;
      if (
        name !== functionCall.name ||
        id !== functionCall.id ||
        Array.isArray(response) ||
        typeof response !== "object"
      )
        return "Function response does not match its function call.";
    }
  }
  return undefined;
};

const limit: Rule = ({ generationConfig }) => {
  const { maxOutputTokens, seed } = generationConfig ?? {};
  if (maxOutputTokens > MAX_TOKENS)
    return `Unable to submit request because it has a maxOutputTokens value of ${maxOutputTokens} but the supported range is from 1 (inclusive) to ${MAX_TOKENS + 1} (exclusive).`;
  return seed !== undefined && seed !== (seed | 0)
    ? `Invalid value at 'generation_config.seed' (TYPE_INT32), ${seed}`
    : undefined;
};

const thinking: Rule = ({ generationConfig }, model) => {
  const { thinkingConfig } = generationConfig ?? {};
  if (thinkingConfig && !kindOf(model)?.thinking) return "Thinking is not enabled for this model";
  return thinkingConfig?.thinkingLevel !== undefined && model.startsWith("gemini-2")
    ? "Thinking level is not supported for this model."
    : undefined;
};

const tools: Rule = ({ tools: offered = [], toolConfig }, model) => {
  const functions = offered.flatMap(({ functionDeclarations = [] }: any) => functionDeclarations);
  const own = offered.some(has("urlContext"));
  const wrong = functions.find(({ name }: any) => !/^[A-Za-z_][\w.:-]{0,127}$/.test(name));
  if (wrong) return "* GenerateContentRequest.tools[0].function_declarations[0].name: [FIELD_INVALID]";
  if (own && functions.length > 0 && !(kindOf(model)?.combines && toolConfig?.includeServerSideToolInvocations))
    return "Built-in tools ({url_context}) and Function Calling cannot be combined in the same request. Please choose one or the other.";
  const allowed = toolConfig?.functionCallingConfig?.allowedFunctionNames ?? [];
  return toolConfig?.functionCallingConfig &&
    allowed.some((name: string) => !functions.some((one: any) => one.name === name))
    ? "Function calling config is set without function_declarations."
    : undefined;
};

/** For a call that the model did not make. */
const FOREIGN = "skip_thought_signature_validator";
const withoutForeign = ({ thoughtSignature, ...part }: any) =>
  thoughtSignature === undefined || thoughtSignature === FOREIGN ? part : { ...part, thoughtSignature };

/** Since the last words of the user, the calls of each answer must be signed. */
const unsigned: Rule = ({ contents: all }, model) => {
  if (!kindOf(model)?.thinking || model.startsWith("gemini-2")) return undefined;
  const said = ({ role, parts }: any) => role === "user" && parts.some(has("text"));
  const first = all
    .slice(all.findLastIndex(said) + 1)
    .find(({ parts }: any) => called(parts) && !parts.some(has("thoughtSignature")));
  return first && missingSignature(called(first.parts).name);
};
const missingSignature = (name: string): string =>
  `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`${name}\`, position 1.`;

const called = (parts: any[]) => parts.find(has("functionCall"))?.functionCall;

/** Signatures must come back with their parts, in the same order. `issued`: the parts of each answer, by its first call. */
const signatures =
  (issued: Map<string, any[]>): Rule =>
  ({ contents: all }) => {
    for (const { parts } of all) {
      const call = called(parts);
      const known = call && issued.get(JSON.stringify(call));
      if (!known) continue;
      const shown = (list: any[]) =>
        JSON.stringify(
          list
            .filter((part) => !part.thought)
            .filter((part) => part.text !== "" || part.thoughtSignature)
            .map(withoutForeign),
        );
      if (known.some(has("thoughtSignature")) && !parts.some(has("thoughtSignature")))
        return missingSignature(call.name);
      if (shown(known) !== shown(parts)) return "Corrupted thought signature.";
    }
    return undefined;
  };

/** Parts as they must come back: a text that was streamed in several parts is one part again. */
export function mergeTexts(parts: any[]): any[] {
  const all: any[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    const plain = (one: any) => typeof one?.text === "string" && !one.thought && !one.thoughtSignature;
    if (plain(last) && plain(part)) last.text += part.text;
    else all.push({ ...part });
  }
  return all;
}

const RULES = [fields, contents, order, limit, thinking, tools, unsigned];

export const refusalReason = (body: any, model: string, issued: Map<string, any[]>): string | undefined => {
  for (const rule of [...RULES, signatures(issued)]) {
    const reason = rule(body, model);
    if (reason) return reason;
  }
  return undefined;
};

/** The first call of an answer, as a key. */
export const callKey = (parts: any[]): string | undefined => {
  const call = called(parts);
  return call && JSON.stringify(call);
};
