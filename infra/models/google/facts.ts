import { z } from "zod";

const Limit = z.int().positive().nullish().catch(null);

/** A model as Google describes it. */
export const ModelDescription = z.object({
  /** `models/…` */
  name: z.string().min(1).max(300),
  inputTokenLimit: Limit,
  outputTokenLimit: Limit,
  supportedGenerationMethods: z.array(z.string()).catch([]),
  thinking: z.boolean().catch(false),
});

/** The facts about a model that determine its requests; undefined if unknown. */
export interface ModelFacts {
  /** Largest `maxOutputTokens` of a request. */
  max_tokens: number | undefined;
  /** Whether it thinks and can show its thoughts. */
  thinks: boolean | undefined;
}

export const UNKNOWN_MODEL: ModelFacts = { max_tokens: undefined, thinks: undefined };

export const toFacts = ({ outputTokenLimit, thinking }: z.infer<typeof ModelDescription>): ModelFacts => ({
  max_tokens: outputTokenLimit ?? undefined,
  thinks: thinking,
});
