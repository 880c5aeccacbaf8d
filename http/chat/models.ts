import { z } from "zod";
import type { ModelInfo } from "../base/catalog.ts";
import type { Http } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { findModel, isAllowed, modelNotFound } from "../turns/model.ts";

const Model = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  context_window: z.int().optional(),
  max_output_tokens: z.int().optional(),
  capabilities: z.array(z.string()).optional(),
});

const present = ({ id, created, owned_by, context_window, max_output_tokens, capabilities }: ModelInfo) => ({
  id,
  object: "model" as const,
  created,
  owned_by,
  ...(context_window !== undefined && { context_window }),
  ...(max_output_tokens !== undefined && { max_output_tokens }),
  ...(capabilities !== undefined && { capabilities }),
});

const described = { tags: ["Models"], security: [{ key: [] }] };

/** GET /models and GET /models/{id}; the id's slash may be raw or encoded. */
export function modelRoutes(app: App, http: Http): void {
  const list = z.object({ object: z.literal("list"), data: z.array(Model) });
  app.get(
    "/models",
    { schema: { ...described, summary: "Models of the organization", response: { 200: list } } },
    async (request) => {
      const { organization_id } = request.caller;
      const models = await http.catalog.list(organization_id, await http.providers.fresh(organization_id));
      return { object: "list" as const, data: models.filter(({ id }) => isAllowed(request.caller, id)).map(present) };
    },
  );

  app.get(
    "/models/*",
    { schema: { ...described, summary: "One model", params: z.object({ "*": z.string() }), response: { 200: Model } } },
    async (request) => {
      const id = request.params["*"];
      const model = await findModel(http, request.caller, id);
      if (!model) throw modelNotFound(id, 404);
      return present(model);
    },
  );
}
