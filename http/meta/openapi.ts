import fastifySwagger from "@fastify/swagger";
import fastifySwaggerUi, { type FastifySwaggerUiOptions } from "@fastify/swagger-ui";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { z } from "zod";
import type { HttpDeps } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { completeDescription, OPTIONAL_BODY } from "./completeDescription.ts";
import { addressWithoutQuery, REFERENCE_STYLE, REFERENCE_THEME, withViewport } from "./referencePage.ts";

/** Describes a route's schemas. Marks an optional body, which OpenAPI expresses outside the schema. */
const describeRoute: typeof jsonSchemaTransform = (route) => {
  const described = jsonSchemaTransform(route);
  const body = (route.schema as { body?: unknown } | undefined)?.body;
  const isOptional = body instanceof z.ZodType && body.safeParse(undefined).success;
  return isOptional ? { ...described, schema: { ...described.schema, [OPTIONAL_BODY]: true } } : described;
};

/** The reference shares its origin with the console's session, so it may only run and call its own code. Styles are inline. */
const REFERENCE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

const REFERENCE: FastifySwaggerUiOptions = {
  routePrefix: "/reference",
  // hides the bar that would load descriptions of other services
  uiConfig: { validatorUrl: null, layout: "BaseLayout" },
  theme: {
    title: "API reference",
    css: [{ filename: "reference.css", content: REFERENCE_STYLE }],
    js: [{ filename: "theme.js", content: REFERENCE_THEME }],
  },
  uiHooks: {
    onRequest: (request, reply, done) => {
      reply.headers(REFERENCE_HEADERS);
      const page = addressWithoutQuery(request.url);
      if (page) reply.redirect(page);
      else done();
    },
  },
  logLevel: "warn",
};

/** Describes the API from the schemas that validate it, and serves the description at `/reference` without external assets. */
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
  await app.register(async (page) => {
    page.addHook("onSend", async (_request, _reply, payload) => withViewport(payload));
    await page.register(fastifySwaggerUi, REFERENCE);
  });
}
