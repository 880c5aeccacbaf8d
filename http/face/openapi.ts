import fastifySwagger from "@fastify/swagger";
import fastifySwaggerUi from "@fastify/swagger-ui";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import type { HttpDeps } from "../deps.ts";
import type { App } from "../app.ts";

/** `/openapi.json` from the schemas that parse, and `/reference` to read it; nothing is loaded from elsewhere. */
export async function describeApi(app: App, settings: HttpDeps["settings"]): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Assistant platform",
        version: "1.0.0",
        description: "One backend for AI assistants. Unknown fields are ignored.",
      },
      servers: [{ url: settings.BASE_URL }],
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
          session: { type: "http", scheme: "bearer", description: `Session token (sess-${settings.SERVICE_NAME}-…)` },
        },
      },
    },
    transform: jsonSchemaTransform,
  });
  await app.register(fastifySwaggerUi, {
    routePrefix: "/reference",
    uiConfig: { validatorUrl: null },
    logLevel: "warn",
  });
}
