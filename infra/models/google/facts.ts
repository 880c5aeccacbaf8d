import { z } from "zod";

const Count = z.int().positive().nullish().catch(null);

/** What Google tells of a model. Nothing is taken on trust: a compatible server may send anything. */
export const Told = z.object({
  /** `models/…` */
  name: z.string().min(1).max(300),
  inputTokenLimit: Count,
  outputTokenLimit: Count,
  supportedActions: z.array(z.string()).catch([]),
  thinking: z.boolean().catch(false),
});

/** What a request to a model must heed; undefined where that is not known. */
export interface Facts {
  /** Largest limit of an answer, in tokens. */
  max_tokens: number | undefined;
  /** Whether it thinks, and can be asked for its thoughts. */
  thinks: boolean | undefined;
}

export const UNKNOWN: Facts = { max_tokens: undefined, thinks: undefined };

export const factsOf = ({ outputTokenLimit, thinking }: z.infer<typeof Told>): Facts => ({
  max_tokens: outputTokenLimit ?? undefined,
  thinks: thinking,
});
