import type { Http } from "../deps.ts";
import type { App } from "../app.ts";
import { asyncApi } from "./asyncapi.ts";

const hidden = { schema: { hide: true } };

/** For those who run the service; no credential is asked for. */
export function faceRoutes(app: App, { health, registry, metrics, settings }: Http): void {
  app.get("/healthz", hidden, () => ({ status: "ok" }));

  app.get("/readyz", hidden, async (_request, reply) => {
    const checks = await health();
    const ready = Object.values(checks).every(({ ok }) => ok);
    return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not ready", checks });
  });

  app.get("/metrics", hidden, async (_request, reply) => {
    metrics.health(await health());
    return reply.header("content-type", registry.contentType).send(await registry.metrics());
  });

  app.get("/openapi.json", hidden, () => app.swagger());

  const feed = asyncApi(settings.BUS_PREFIX);
  app.get("/asyncapi.json", hidden, () => feed);
}
