import { z } from "zod";

/* What Anthropic tells of a model. Nothing is taken on trust: a compatible server may send anything. */

const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

const lenient = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);
const Count = lenient(z.int().positive());
/** `{supported}`; what is not told is not supported. */
const Support = z
  .object({ supported: z.boolean() })
  .transform(({ supported }) => supported)
  .catch(false);
const Types = z.object({ adaptive: Support, enabled: Support, disabled: Support });

const Capabilities = z.object({
  image_input: Support,
  pdf_input: Support,
  structured_outputs: Support,
  effort: z.record(z.string(), Support).catch({}),
  thinking: z.object({ supported: z.boolean().catch(false), types: Types }).catch({
    supported: false,
    types: { adaptive: false, enabled: false, disabled: false },
  }),
});

export const Told = z.object({
  id: z.string().min(1).max(300),
  created_at: lenient(z.iso.datetime({ offset: true })),
  max_input_tokens: Count,
  max_tokens: Count,
  capabilities: lenient(Capabilities),
});

/** What a request to a model must heed. */
export interface Facts {
  /** Largest limit of an answer, in tokens. */
  max_tokens: number | undefined;
  /** Ways of thinking that it can be told. */
  thinking: z.infer<typeof Types>;
  /** Efforts that it can be told, from low to high. */
  efforts: Effort[];
}

/** Of a model that nothing is known of: it is taken for a current one, with a limit that even old ones take. */
export const UNKNOWN: Facts = {
  max_tokens: undefined,
  thinking: { adaptive: true, enabled: false, disabled: true },
  efforts: [...EFFORTS],
};

export function factsOf({ max_tokens, capabilities }: z.infer<typeof Told>): Facts {
  if (!capabilities) return { ...UNKNOWN, max_tokens: max_tokens ?? undefined };
  const { effort, thinking } = capabilities;
  return {
    max_tokens: max_tokens ?? undefined,
    thinking: thinking.types,
    efforts: EFFORTS.filter((level) => effort[level] === true),
  };
}
