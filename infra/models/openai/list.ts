import { z } from "zod";
import type { Credential } from "#services/turns/model.ts";
import type { Send } from "../send.ts";
import { openClient } from "./client.ts";
import { modelError } from "./failure.ts";

/** A provider's own list is cut here; the longest known ones have several hundred models. */
const MAX_MODELS = 5_000;

const ListedModel = z.object({
  id: z.string().min(1).max(300),
  created: z.int().nonnegative().catch(0),
  owned_by: z.string().max(300).optional().catch(undefined),
});
export type ListedModel = z.infer<typeof ListedModel>;

/** What the provider itself says it has (`GET /models`). Throws a ModelError. */
export async function listModels(credential: Credential, send: Send, signal: AbortSignal): Promise<ListedModel[]> {
  try {
    const { data } = await openClient(credential, send).models.list({ signal });
    return data.slice(0, MAX_MODELS).flatMap((raw) => ListedModel.safeParse(raw).data ?? []);
  } catch (error) {
    throw modelError(error, credential.api_key);
  }
}
