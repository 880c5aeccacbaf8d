interface Kind {
  thinking?: boolean;
  methods: string[];
  /** Whether Google's own tools can be combined with functions. */
  combines: boolean;
}

const KINDS: Record<string, Kind> = {
  "gemini-4-pro": { thinking: true, methods: ["generateContent", "countTokens"], combines: true },
  "gemini-2.5-flash": { thinking: true, methods: ["generateContent", "countTokens"], combines: false },
  "gemma-4-27b-it": { methods: ["generateContent"], combines: false },
  "gemini-embedding-2": { methods: ["embedContent"], combines: false },
};
export const MAX_TOKENS = 65_536;

export const kindOf = (model: string): Kind | undefined => KINDS[model];

/** A model as `GET /v1beta/models` shows it. */
export function modelObject(id: string) {
  const { thinking, methods } = KINDS[id]!;
  return {
    name: `models/${id}`,
    version: "1",
    displayName: id,
    description: `The model ${id}.`,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: MAX_TOKENS,
    supportedGenerationMethods: methods,
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    ...(thinking && { thinking }),
  };
}

export const MODELS = Object.keys(KINDS);
