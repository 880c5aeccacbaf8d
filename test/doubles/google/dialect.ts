import { withDialect, type Answer, type Conversation, type Dialect, type DialectDouble } from "../dialect.ts";
import { startGoogle, type GoogleDouble } from "../google.ts";
import { event, USAGE, type GoogleAnswer, type Part } from "./reply.ts";

const toParts = ({ state, reasoning, text, calls = [] }: Answer): Part[] => [
  ...(state === undefined ? [] : [{ page: state }]),
  ...(reasoning === undefined ? [] : [{ thought: reasoning }]),
  ...(text === undefined ? [] : [{ text }]),
  ...calls.map(({ name, args }, n) => ({ call: name, args, signed: n === 0 })),
];

/** Converts an answer to Gemini's format, which stores the state as a call of Gemini's own tool and signs the first call. */
export const toGoogleAnswer = (answer: Answer): GoogleAnswer => {
  const { finish, usage, error, cut, pieces } = answer;
  const parts = toParts(answer);
  return {
    cut,
    pieces,
    ...(parts.length > 0 && { parts }),
    ...(finish !== undefined && { finishReason: finish }),
    ...(usage !== undefined && { usage: usage }),
    ...(error !== undefined && { error: { code: 503, status: "UNAVAILABLE", message: error } }),
  };
};

/** A result that is not an object is wrapped as `output` on the wire. */
const unwrap = (response: any): unknown => ("output" in response ? response.output : response);

function toConversation({ systemInstruction, contents, tools = [] }: any): Conversation {
  const parts = contents.flatMap((content: any) => content.parts);
  return {
    instructions: systemInstruction?.parts[0].text,
    texts: parts.flatMap(({ text }: any) => text || []),
    files: contents.at(-1).parts.flatMap(({ inlineData }: any) => inlineData?.mimeType ?? []),
    tools: tools.flatMap(({ functionDeclarations = [] }: any) => functionDeclarations.map(({ name }: any) => name)),
    calls: parts.flatMap(({ functionCall }: any) => functionCall ?? []),
    results: parts.flatMap(({ functionResponse: result }: any) =>
      result ? { id: result.id, output: unwrap(result.response) } : [],
    ),
    state: parts.flatMap(({ toolCall, thoughtSignature }: any) => toolCall?.args.urls[0] ?? thoughtSignature ?? []),
  };
}

const candidate = (fields: object) => event({ candidates: [{ ...fields, index: 0 }] });

export const GOOGLE: Dialect<DialectDouble & Pick<GoogleDouble, "answers" | "script">> = {
  name: "google",
  model: "gemini-4-pro",
  apiKey: "AIza-canary-0123456789",
  wrongKey: { apiKey: "wrong", status: 400, message: "API key not valid. Please pass a valid API key." },
  keyHeader: (apiKey) => ["x-goog-api-key", apiKey],
  settings: ["GEMINI_API_KEY", "GEMINI_BASE_URL"],
  origin: "https://generativelanguage.googleapis.com",
  pathSuffixes: ["", "/", "/v1beta", "/v1beta/"],
  environment: {
    GOOGLE_API_KEY: "environment",
    GOOGLE_CLOUD_PROJECT: "environment",
    GOOGLE_GEMINI_BASE_URL: "https://elsewhere.example",
    GOOGLE_GENAI_USE_VERTEXAI: "true",
    GOOGLE_GENAI_API_VERSION: "v9",
  },
  alwaysStreams: true,
  finishReasons: [
    ["STOP", "stop"],
    ["OTHER", "stop"],
    ["LANGUAGE", "stop"],
    ["TOO_MANY_TOOL_CALLS", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["YET_UNKNOWN", "stop"],
    ["constructor", "stop"],
  ],
  usage: {
    raw: {
      promptTokenCount: 20,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      cachedContentTokenCount: 16,
      toolUsePromptTokenCount: 100,
      totalTokenCount: 129,
    },
    counted: { prompt_tokens: 120, completion_tokens: 9, cached_tokens: 16, reasoning_tokens: 4 },
  },
  unusableUsages: [
    null,
    {},
    { promptTokenCount: -1, candidatesTokenCount: 2 },
    { promptTokenCount: Number.MAX_SAFE_INTEGER, candidatesTokenCount: 2 },
    { promptTokenCount: 0, candidatesTokenCount: 0 },
  ],
  errorBody: (code, message) => ({ error: { code, message, status: "X" } }),
  frames: {
    start: "",
    text: (text) => candidate({ content: { role: "model", parts: [{ text }] } }),
    finish: event({ candidates: [{ finishReason: "STOP", index: 0 }], usageMetadata: USAGE }),
    unknown: [
      event({}),
      event({ candidates: [null] }),
      candidate({ content: { parts: "no" } }),
      candidate({ content: { parts: [null, 5, { light: 5 }, { text: 5 }, { functionCall: {} }] } }),
    ],
    broken: [
      ["half JSON", 'data: {"candidates":\r\n\r\n'],
      ["a web page", "<h1>Welcome</h1>"],
    ],
  },
  start: async () => withDialect(await startGoogle(), toGoogleAnswer, toConversation),
};
