const is = (supported: boolean) => ({ supported });

interface Kind {
  adaptive: boolean;
  enabled: boolean;
  disabled: boolean;
  efforts: string[];
}

const ALL = ["low", "medium", "high", "xhigh", "max"];
const KINDS: Record<string, Kind> = {
  /** Thinks when it is asked to. */
  "claude-opus-5": { adaptive: true, enabled: false, disabled: true, efforts: ["low", "medium", "high"] },
  /** Always thinks. */
  "claude-fable-5": { adaptive: true, enabled: false, disabled: false, efforts: ALL },
  /** Is told how many tokens it may think with. */
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
      batch: is(true),
      citations: is(true),
      code_execution: is(false),
      context_management: { supported: false },
      effort: {
        supported: efforts.length > 0,
        ...Object.fromEntries(ALL.map((one) => [one, is(efforts.includes(one))])),
      },
      image_input: is(true),
      pdf_input: is(id !== "claude-haiku-4-5"),
      server_tools: { supported: false, code_execution: is(false), web_search: is(false) },
      structured_outputs: is(true),
      thinking: {
        supported: true,
        types: { adaptive: is(adaptive), between_tools: is(false), disabled: is(disabled), enabled: is(enabled) },
      },
    },
  };
}

export const MODELS = Object.keys(KINDS);
