import type { z } from "zod";
import { MAX_MODELS, type Capability, type ListedModel, type ListModels } from "../listed.ts";
import { openClient } from "./client.ts";
import { Told } from "./facts.ts";

/** The most that one page has. */
const PAGE = 1_000;

const capabilitiesOf = ({ image_input, pdf_input, structured_outputs, thinking }: Capabilities): Capability[] => [
  ...(image_input ? ["image_input" as const] : []),
  ...(pdf_input ? ["pdf_input" as const] : []),
  ...(thinking.supported ? ["reasoning" as const] : []),
  ...(structured_outputs ? ["structured_outputs" as const] : []),
];
type Capabilities = NonNullable<z.infer<typeof Told>["capabilities"]>;

const listed = ({ id, created_at, max_input_tokens, max_tokens, capabilities }: z.infer<typeof Told>): ListedModel => ({
  id,
  created: created_at ? Math.max(0, Math.floor(Date.parse(created_at) / 1_000)) : 0,
  ...(max_input_tokens && { context_window: max_input_tokens }),
  ...(max_tokens && { max_output_tokens: max_tokens }),
  ...(capabilities && { capabilities: capabilitiesOf(capabilities) }),
});

/** What Anthropic says it has (`GET /v1/models`): what can be used, the newest first. */
export const listModels: ListModels = async (credential, send, signal) => {
  const models: ListedModel[] = [];
  for await (const raw of openClient(credential, send).models.list({ limit: PAGE }, { signal })) {
    const told = Told.safeParse(raw).data;
    if (told) models.push(listed(told));
    if (models.length === MAX_MODELS) break;
  }
  return models;
};
