import type { z } from "zod";
import { MAX_MODELS, type ListedModel, type ListModels } from "../listed.ts";
import { openClient } from "./client.ts";
import { Told } from "./facts.ts";
import { googleFetch } from "./fetch.ts";

/** The most that one page has. */
const PAGE = 1_000;

const listed = ({ name, inputTokenLimit, outputTokenLimit, thinking }: z.infer<typeof Told>): ListedModel => ({
  id: name.replace(/^models\//, ""),
  created: 0,
  ...(inputTokenLimit && { context_window: inputTokenLimit }),
  ...(outputTokenLimit && { max_output_tokens: outputTokenLimit }),
  ...(thinking && { capabilities: ["reasoning"] }),
});

/**
 * What Google says it has (`GET /v1beta/models`), less what cannot converse, such as models for embeddings. Page by page: over an answer
 * whose models are no list the SDK would iterate for ever.
 */
export const listModels: ListModels = async (credential, send, abortSignal) => {
  const models: ListedModel[] = [];
  const client = openClient(credential, googleFetch(send, credential.api_key));
  const pager = await client.models.list({ config: { pageSize: PAGE, abortSignal } });
  for (let page: unknown = pager.page; Array.isArray(page); page = pager.hasNextPage() && (await pager.nextPage()))
    for (const raw of page) {
      const told = Told.safeParse(raw).data;
      if (told?.supportedActions.includes("generateContent")) models.push(listed(told));
      if (models.length === MAX_MODELS) return models;
    }
  return models;
};
