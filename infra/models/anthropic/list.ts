import { z } from "zod";
import { MAX_MODELS, type Capability, type ListedModel, type ListModels } from "../modelList.ts";
import { openAnthropic } from "./client.ts";
import { ModelDescription } from "./facts.ts";

/** Models per page: the API's maximum. */
const PAGE_SIZE = 1_000;

type Description = z.infer<typeof ModelDescription>;

const toCapabilities = ({
  image_input,
  pdf_input,
  structured_outputs,
  thinking,
}: NonNullable<Description["capabilities"]>): Capability[] => [
  ...(image_input ? ["image_input" as const] : []),
  ...(pdf_input ? ["pdf_input" as const] : []),
  ...(thinking.supported ? ["reasoning" as const] : []),
  ...(structured_outputs ? ["structured_outputs" as const] : []),
];

const toListed = ({ id, created_at, max_input_tokens, max_tokens, capabilities }: Description): ListedModel => ({
  id,
  created: created_at ? Math.max(0, Math.floor(Date.parse(created_at) / 1_000)) : 0,
  ...(max_input_tokens && { context_window: max_input_tokens }),
  ...(max_tokens && { max_output_tokens: max_tokens }),
  ...(capabilities && { capabilities: toCapabilities(capabilities) }),
});

/** A page of the list. */
const Page = z.object({
  data: z.array(z.unknown()),
  has_more: z.boolean().catch(false),
  last_id: z.string().min(1).nullish().catch(null),
});

/** Anthropic's usable models, the newest first (`GET /v1/models`). */
export const listModels: ListModels = async (credential, send, signal) => {
  const client = openAnthropic(credential, send);
  const models: ListedModel[] = [];
  for (let after: string | undefined; ; ) {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(after !== undefined && { after_id: after }) });
    const { data, has_more, last_id } = Page.parse(await (await client(`/models?${query.toString()}`, signal)).json());
    for (const raw of data) {
      const description = ModelDescription.safeParse(raw).data;
      if (description) models.push(toListed(description));
      if (models.length === MAX_MODELS) return models;
    }
    if (!has_more || !last_id || data.length === 0) return models;
    after = last_id;
  }
};
