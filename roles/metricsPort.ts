import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { measureEventLoopDelay } from "#http/base/eventLoopDelay.ts";
import { measureRunMemory } from "#http/base/metrics.ts";
import type { Settings } from "#infra/config.ts";
import type { RunMemory } from "#services/workflows/runMemory.ts";

/** Serves `GET /metrics` of a process without an API. It needs no credential, like the API's own. */
export async function serveMetrics(
  { HOST, METRICS_PORT }: Pick<Settings, "HOST" | "METRICS_PORT">,
  runMemory: Pick<RunMemory, "usage">,
) {
  const registry = new Registry();
  measureEventLoopDelay(registry);
  measureRunMemory(registry, runMemory.usage);
  async function answer(response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": registry.contentType }).end(await registry.metrics());
  }
  const server = createServer(({ method, url }, response) => {
    if (method === "GET" && url === "/metrics") void answer(response);
    else response.writeHead(404).end();
  });
  server.listen(METRICS_PORT, HOST);
  await once(server, "listening").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EADDRINUSE") throw cause;
    const next = "stop the program that listens there, or set METRICS_PORT to another one";
    throw new Error(`Port ${METRICS_PORT} is in use: ${next}.`, { cause });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
