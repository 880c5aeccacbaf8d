import { z } from "zod";
import { nullIfInvalid } from "../wire/json.ts";

const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

const Limit = nullIfInvalid(z.int().positive());
/** `{supported}`; a capability that is missing is not supported. */
const Support = z
  .object({ supported: z.boolean() })
  .transform(({ supported }) => supported)
  .catch(false);
const ThinkingTypes = z.object({ adaptive: Support, enabled: Support, disabled: Support });

const Capabilities = z.object({
  image_input: Support,
  pdf_input: Support,
  structured_outputs: Support,
  effort: z.record(z.string(), Support).catch({}),
  thinking: z.object({ supported: z.boolean().catch(false), types: ThinkingTypes }).catch({
    supported: false,
    types: { adaptive: false, enabled: false, disabled: false },
  }),
});

/** A model as Anthropic describes it. */
export const ModelDescription = z.object({
  id: z.string().min(1).max(300),
  created_at: nullIfInvalid(z.iso.datetime({ offset: true })),
  max_input_tokens: Limit,
  max_tokens: Limit,
  capabilities: nullIfInvalid(Capabilities),
});

/** The facts about a model that determine its requests. */
export interface ModelFacts {
  /** Largest `max_tokens` of a request. */
  max_tokens: number | undefined;
  /** The values that `thinking.type` accepts. */
  thinking: z.infer<typeof ThinkingTypes>;
  /** The efforts it accepts, in ascending order. */
  efforts: Effort[];
}

/** Assumed for models without a description: a current model. */
export const UNKNOWN_MODEL: ModelFacts = {
  max_tokens: undefined,
  thinking: { adaptive: true, enabled: false, disabled: true },
  efforts: [...EFFORTS],
};

export function toFacts({ max_tokens, capabilities }: z.infer<typeof ModelDescription>): ModelFacts {
  if (!capabilities) return { ...UNKNOWN_MODEL, max_tokens: max_tokens ?? undefined };
  const { effort, thinking } = capabilities;
  return {
    max_tokens: max_tokens ?? undefined,
    thinking: thinking.types,
    efforts: EFFORTS.filter((level) => effort[level] === true),
  };
}
