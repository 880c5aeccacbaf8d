import type { FastifyRequest } from "fastify";
import { StorageFull } from "#events/ports.ts";
import type { SpaceUse } from "#events/freeSpace.ts";
import type { Vault } from "#events/vault.ts";
import type { App } from "./app.ts";
import type { HttpDeps } from "./deps.ts";
import type { Metrics } from "./metrics.ts";

/** Routes that are refused when a disk is almost full. Files in turns are refused where their bytes are stored. */
const USES: Readonly<Record<string, SpaceUse>> = {
  "/api/v1/knowledge/collections/:reference/documents": "documents",
  "/api/v1/knowledge/collections/:reference/documents/text": "documents",
  "/api/v1/knowledge/documents/batch": "documents",
  "/api/v1/knowledge/documents/:id/reprocess": "documents",
  "/api/v1/knowledge/collections/:reference/sources": "documents",
  "/api/v1/knowledge/sources/:id/read": "documents",
  "/api/openai/v1/files": "files",
  "/api/v1/extractions": "files",
  "/api/workflows/:id/runs": "runs",
  "/api/workflows/hooks/:hook_token": "runs",
  "/api/workflows/runs/:run_id/retry": "runs",
  "/api/workflows/runs/:run_id/fork": "runs",
  "/api/openai/v1/chat/completions": "turns",
  "/api/agents/:agent_id/v1/responses": "turns",
};

type Deps = Pick<HttpDeps, "freeSpace"> & { metrics: Pick<Metrics, "refusedForSpace"> };

/** Throws StorageFull. */
function requireSpace({ freeSpace, metrics }: Deps, use: SpaceUse): void {
  if (!freeSpace.isRefused(use)) return;
  metrics.refusedForSpace(use);
  throw new StorageFull("A disk is almost full");
}

/** Refuses requests before their bodies are read if a disk has too little free space for them (SPACE_RULES). */
export function refuseWithoutSpace(app: App, http: Deps): void {
  const found = new Set<string>();
  app.addHook("onRoute", (route) => {
    const use = route.method === "POST" ? USES[route.url] : undefined;
    if (use === undefined) return;
    found.add(route.url);
    const check = async (_request: FastifyRequest): Promise<void> => requireSpace(http, use);
    // after authentication, so that strangers learn nothing about the disks
    route.preParsing = [check, ...[route.preParsing ?? []].flat()];
  });
  app.addHook("onReady", async () => {
    const missing = Object.keys(USES).filter((url) => !found.has(url));
    if (missing.length > 0) throw new Error(`no POST route is ${missing.join(", ")}`);
  });
}

/** The vault for turns. It refuses files and long texts while a disk has too little free space for them. */
export const createTurnVault = ({ vault, ...deps }: Deps & { vault: Vault }): Vault => ({
  ...vault,
  async put(owner, bytes) {
    requireSpace(deps, "attachments");
    return vault.put(owner, bytes);
  },
});
