import type { z } from "zod";
import { MAX_MODELS, type ListedModel, type ListModels } from "../modelList.ts";
import { openClient } from "./client.ts";
import { ModelDescription } from "./facts.ts";
import { googleFetch } from "./fetch.ts";

/** Models per page, the API's maximum. */
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

/**
 * Google's models that can converse (`GET /v1beta/models`); models for embeddings and the like are left out. Reads page by page: the
 * SDK's iterator never ends on a response whose `models` is not a list.
 */
export const listModels: ListModels = async (credential, send, abortSignal) => {
  const models: ListedModel[] = [];
  const client = openClient(credential, googleFetch(send, credential.api_key));
  const pager = await client.models.list({ config: { pageSize: PAGE_SIZE, abortSignal } });
  for (let page: unknown = pager.page; Array.isArray(page); page = pager.hasNextPage() && (await pager.nextPage()))
    for (const raw of page) {
      const description = ModelDescription.safeParse(raw).data;
      if (description?.supportedActions.includes("generateContent")) models.push(toListed(description));
      if (models.length === MAX_MODELS) return models;
    }
  return models;
};
