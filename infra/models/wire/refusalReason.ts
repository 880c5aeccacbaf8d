import { z } from "zod";
import type { RefusalReason } from "#services/turns/model.ts";

/* Why a provider refused a request that another model may answer. */

/** Values of an error's `code` used by providers, including OpenAI and Azure. */
const CODES = new Map<unknown, RefusalReason>([
  ["context_length_exceeded", "context_length"],
  ["exceed_context_size_error", "context_length"],
  ["content_filter", "content_filter"],
  ["content_policy_violation", "content_filter"],
]);
/** Anthropic, Google and some compatible servers have no code for this, only these words. */
const TOO_LONG =
  /prompt is too long|maximum context length|exceeds? (?:the )?(?:available |model's )?context (?:limit|length|size|window)|input token count .{0,40}exceeds the maximum/i;
/** Statuses of requests that are too long or filtered. */
const STATUSES = new Set([400, 413, 422]);

const Body = z.object({ error: z.object({ code: z.unknown().optional(), type: z.unknown().optional() }) });

/** Undefined for any other refusal. `message`: the provider's. */
export function refusalReason(status: number, body: unknown, message: string): RefusalReason | undefined {
  if (!STATUSES.has(status)) return undefined;
  const { error } = Body.safeParse(Array.isArray(body) ? body[0] : body).data ?? {};
  const coded = CODES.get(error?.code) ?? CODES.get(error?.type);
  return coded ?? (TOO_LONG.test(message) ? "context_length" : undefined);
}
