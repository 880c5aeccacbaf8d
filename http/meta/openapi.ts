import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { z } from "zod";
import type { HttpDeps } from "../base/deps.ts";
import { completeDescription, OPTIONAL_BODY } from "./completeDescription.ts";

/** Describes a route's schemas. Marks an optional body, which OpenAPI expresses outside the schema. */
const describeRoute: typeof jsonSchemaTransform = (route) => {
  const described = jsonSchemaTransform(route);
  const body = (route.schema as { body?: unknown } | undefined)?.body;
  const isOptional = body instanceof z.ZodType && body.safeParse(undefined).success;
  return isOptional ? { ...described, schema: { ...described.schema, [OPTIONAL_BODY]: true } } : described;
};

/** How the API is described: from the schemas that validate it. */
export const openApiOptions = (
  settings: Pick<HttpDeps["settings"], "BASE_URL" | "SERVICE_NAME">,
): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: "3.1.0",
    info: {
      title: "Assistant platform",
      version: "1.0.0",
      description:
        "One backend for AI assistants. Unknown fields are ignored, except in objects whose schema has `additionalProperties: false`.",
    },
    servers: [{ url: settings.BASE_URL }],
    externalDocs: { url: `${settings.BASE_URL}/docs/`, description: "Guides and explanations" },
    components: {
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: `API key (sk-${settings.SERVICE_NAME}-…) or session token`,
        },
        webhook: {
          type: "http",
          scheme: "bearer",
          description: `Webhook secret (whsec-${settings.SERVICE_NAME}-…), or the header x-${settings.SERVICE_NAME}-webhook-secret`,
        },
        link: {
          type: "http",
          scheme: "bearer",
          description: `Secret of a link to an approval (link-${settings.SERVICE_NAME}-…): the part of its address after #`,
        },
        session: { type: "http", scheme: "bearer", description: `Session token (sess-${settings.SERVICE_NAME}-…)` },
      },
    },
  },
  transform: describeRoute,
  transformObject: (described) => ("openapiObject" in described ? completeDescription(described.openapiObject) : {}),
});
