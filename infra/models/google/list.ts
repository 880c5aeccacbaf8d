import { z } from "zod";
import { MAX_MODELS, type ListedModel, type ListModels } from "../modelList.ts";
import { openGoogle } from "./client.ts";
import { ModelDescription } from "./facts.ts";

/** Models per page: the API's maximum. */
const PAGE_SIZE = 1_000;

const toListed = ({
  name,
  inputTokenLimit,
  outputTokenLimit,
  thinking,
}: z.infer<typeof ModelDescription>): ListedModel => ({
  id: name.replace(/^models\//, ""),
  created: 0,
  ...(inputTokenLimit && { context_window: inputTokenLimit }),
  ...(outputTokenLimit && { max_output_tokens: outputTokenLimit }),
  ...(thinking && { capabilities: ["reasoning"] }),
});

/** A page of the list. */
const Page = z.object({
  models: z.array(z.unknown()).catch([]),
  nextPageToken: z.string().min(1).nullish().catch(null),
});

/** Google's models for conversations (`GET /v1beta/models`). Leaves out others, such as those for embeddings. */
export const listModels: ListModels = async (credential, send, signal) => {
  const client = openGoogle(credential, send);
  const models: ListedModel[] = [];
  for (let token: string | undefined; ; ) {
    const query = new URLSearchParams({
      pageSize: String(PAGE_SIZE),
      ...(token !== undefined && { pageToken: token }),
    });
    const page = Page.parse(await (await client(`/models?${query.toString()}`, signal)).json());
    for (const raw of page.models) {
      const description = ModelDescription.safeParse(raw).data;
      if (description?.supportedGenerationMethods.includes("generateContent")) models.push(toListed(description));
      if (models.length === MAX_MODELS) return models;
    }
    if (!page.nextPageToken || page.models.length === 0) return models;
    token = page.nextPageToken;
  }
};
