const support = (supported: boolean) => ({ supported });

interface Kind {
  adaptive: boolean;
  enabled: boolean;
  disabled: boolean;
  efforts: string[];
}

const ALL = ["low", "medium", "high", "xhigh", "max"];
const KINDS: Record<string, Kind> = {
  /** Thinks on request. */
  "claude-opus-5": { adaptive: true, enabled: false, disabled: true, efforts: ["low", "medium", "high"] },
  /** Always thinks. */
  "claude-fable-5": { adaptive: true, enabled: false, disabled: false, efforts: ALL },
  /** Takes a budget of thinking tokens. */
  "claude-haiku-4-5": { adaptive: false, enabled: true, disabled: true, efforts: [] },
};
export const MAX_TOKENS = 64_000;

export const kindOf = (model: string): Kind | undefined => KINDS[model];

/** A model as `GET /v1/models` shows it. */
export function modelObject(id: string) {
  const { adaptive, enabled, disabled, efforts } = KINDS[id]!;
  return {
    type: "model",
    id,
    display_name: id,
    created_at: "2026-02-01T00:00:00Z",
    deprecated_at: null,
    retires_at: null,
    lifecycle: "active",
    line: null,
    max_input_tokens: 200_000,
    max_tokens: MAX_TOKENS,
    capabilities: {
      batch: support(true),
      citations: support(true),
      code_execution: support(false),
      context_management: { supported: false },
      effort: {
        supported: efforts.length > 0,
        ...Object.fromEntries(ALL.map((one) => [one, support(efforts.includes(one))])),
      },
      image_input: support(true),
      pdf_input: support(id !== "claude-haiku-4-5"),
      server_tools: { supported: false, code_execution: support(false), web_search: support(false) },
      structured_outputs: support(true),
      thinking: {
        supported: true,
        types: {
          adaptive: support(adaptive),
          between_tools: support(false),
          disabled: support(disabled),
          enabled: support(enabled),
        },
      },
    },
  };
}

export const MODELS = Object.keys(KINDS);
