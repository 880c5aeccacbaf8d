import { readFileSync } from "node:fs";
import type { FastifyReply } from "fastify";
import type { Http } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { shareBriefly } from "../base/shareBriefly.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";
/** Types of everything that a workflow may import, for editors. */
const WORKFLOW_TYPES = readFileSync(new URL("../../examples/workflow.d.ts", import.meta.url), "utf8");
const hidden = { schema: { hide: true } };
/** Routes for operators and for tools that read the API description. They need no credential. */
export function metaRoutes(app: App, { health, registry, metrics, descriptions }: Http): void {
  app.get("/healthz", hidden, () => ({ status: "ok" }));

  app.get("/readyz", hidden, async (_request, reply) => {
    const checks = await health();
    const ready = Object.values(checks).every(({ ok }) => ok);
    return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not ready", checks });
  });

  const readMetrics = shareBriefly(async () => {
    metrics.health(await health());
    return registry.metrics();
  });
  app.get("/metrics", hidden, async (_request, reply) =>
    reply.header("content-type", registry.contentType).send(await readMetrics()),
  );

  const send = (reply: FastifyReply, json: Buffer) => reply.header("content-type", JSON_TYPE).send(json);
  app.get("/openapi.json", hidden, async (_request, reply) => send(reply, (await descriptions()).openapi));
  app.get("/asyncapi.json", hidden, async (_request, reply) => send(reply, (await descriptions()).asyncapi));

  app.get("/workflow.d.ts", hidden, (_request, reply) => reply.header("content-type", TEXT_TYPE).send(WORKFLOW_TYPES));
}
