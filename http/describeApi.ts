import fastifySwagger from "@fastify/swagger";
import fastify from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { App } from "./base/app.ts";
import type { ApiDescriptions, Http, HttpDeps } from "./base/deps.ts";
import { compilers } from "./base/validate.ts";
import { asyncApi } from "./meta/asyncapi.ts";
import { openApiOptions } from "./meta/openapi.ts";
import { registerRoutes } from "./routes.ts";

/** The settings that appear in a description. */
export type DescribedSettings = Pick<HttpDeps["settings"], "BASE_URL" | "SERVICE_NAME" | "BUS_PREFIX">;

/** Describes the routes and the events of a service with these settings. Computes for about half a second. */
export async function describeApi(settings: DescribedSettings): Promise<ApiDescriptions> {
  const asyncapi = Buffer.from(JSON.stringify(asyncApi(settings.BUS_PREFIX)));
  const bare = fastify({ schemaController: { compilersFactory: compilers } });
  const app = bare.withTypeProvider<ZodTypeProvider>() as unknown as App;
  await app.register(fastifySwagger, openApiOptions(settings));
  // no request is ever made of these routes
  const unused = { settings, onCommitted() {}, onProjected() {}, onHealed() {} };
  await registerRoutes(app, unused as unknown as Http);
  await app.ready();
  const openapi = Buffer.from(JSON.stringify(app.swagger()));
  await app.close();
  return { openapi, asyncapi };
}
