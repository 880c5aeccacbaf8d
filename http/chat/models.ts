import { z } from "zod";
import type { ModelInfo } from "../base/catalog.ts";
import type { Http } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { mapInSlices } from "#events/slices.ts";
import { isAlias } from "#events/route.ts";
import type { AliasRow } from "#projections/aliases/query.ts";
import { findModel, isAllowed, modelNotFound } from "../base/model.ts";
import { unixSeconds } from "../base/times.ts";

const Model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
    context_window: z.int().optional(),
    max_output_tokens: z.int().optional(),
    capabilities: z.array(z.string()).optional(),
    targets: z.array(z.string()).optional().describe("Of an alias: the models that it stands for."),
  })
  .meta({ title: "Model" });

const present = ({ id, created, owned_by, context_window, max_output_tokens, capabilities }: ModelInfo) => ({
  id,
  object: "model" as const,
  created,
  owned_by,
  ...(context_window !== undefined && { context_window }),
  ...(max_output_tokens !== undefined && { max_output_tokens }),
  ...(capabilities !== undefined && { capabilities }),
});

/** Presents an alias as a model. */
const presentAlias = ({ alias, updated_at, targets }: AliasRow) => ({
  id: alias,
  object: "model" as const,
  created: unixSeconds(updated_at),
  owned_by: "alias",
  targets: targets.map(({ model }) => model),
});

const baseSchema = { tags: ["Models"], security: [{ key: [] }] };

/** GET /models and GET /models/{id}. The slash in an id may be raw or percent-encoded. */
export function modelRoutes(app: App, http: Http): void {
  const list = z.object({ object: z.literal("list"), data: z.array(Model) });
  app.get(
    "/models",
    { schema: { ...baseSchema, summary: "Models of the organization", response: { 200: list } } },
    async (request) => {
      const { organization_id } = request.caller;
      const [rows, aliases] = await Promise.all([
        http.providers.readNow(organization_id),
        http.aliases.list(organization_id),
      ]);
      const models = await http.catalog.list(organization_id, rows);
      const mayUse = ({ id }: { id: string }): boolean => isAllowed(request.caller, id);
      const presented = await mapInSlices(models, (model) => (mayUse(model) ? present(model) : undefined));
      const own = presented.filter((model) => model !== undefined);
      return { object: "list" as const, data: [...aliases.map(presentAlias).filter(mayUse), ...own] };
    },
  );

  app.get(
    "/models/*",
    {
      schema: { ...baseSchema, summary: "One model", params: z.object({ "*": z.string() }), response: { 200: Model } },
    },
    async (request) => {
      const id = request.params["*"];
      if (isAlias(id)) {
        const alias = isAllowed(request.caller, id) && (await http.aliases.find(request.caller.organization_id, id));
        if (!alias) throw modelNotFound(id, 404);
        return presentAlias(alias);
      }
      const model = await findModel(http, request.caller, id);
      if (!model) throw modelNotFound(id, 404);
      return present(model);
    },
  );
}
