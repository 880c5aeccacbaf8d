import { z } from "zod";
import { mapInSlices } from "#events/slices.ts";
import { MAX_MODELS, type ListModels, type ListedModel } from "../modelList.ts";
import { openOpenai } from "./client.ts";

const ModelDescription: z.ZodType<ListedModel> = z.object({
  id: z.string().min(1).max(300),
  created: z.int().nonnegative().catch(0),
  owned_by: z.string().max(300).optional().catch(undefined),
});

const ModelList = z.object({ data: z.array(z.unknown()) });

/** The provider's own list (`GET /models`). */
export const listModels: ListModels = async (credential, send, signal) => {
  const response = await openOpenai(credential, send)("/models", signal);
  const { data } = ModelList.parse(await response.json());
  const models = await mapInSlices(data.slice(0, MAX_MODELS), (raw) => ModelDescription.safeParse(raw).data);
  return models.filter((model) => model !== undefined);
};
