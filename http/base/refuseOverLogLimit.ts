import type { FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import { bodyOwner } from "./bodyBudget.ts";
import { requireLogRoom, type LogNeeds } from "./storageLimits.ts";

const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/**
 * What an organization may do beyond the limit of its events or of its runs' values, besides reading and deleting: store nothing, end something, decide
 * what waits, or take access away. Everything else that writes is refused, also routes that are added later
 * (docs/adr/0102-an-organization-has-a-share-of-the-log.md).
 */
export const ALLOWED_BEYOND: readonly string[] = [
  // these store nothing
  "POST /api/definitions/check",
  "POST /api/definitions/check-types",
  "POST /api/definitions/:id/check-runs",
  "POST /api/erasures/preview",
  "POST /api/exports",
  "POST /api/retention/:subject/preview",
  "POST /api/v1/knowledge/search",
  "POST /api/v1/knowledge/verify",
  // signing in and out, and access that is taken away
  "POST /api/auth/login",
  "POST /api/auth/start",
  "POST /api/auth/password",
  "POST /api/auth/logout",
  "PATCH /api/keys/:id",
  "POST /api/keys/:id/rotate",
  "PATCH /api/members/:id",
  "POST /api/members/:id/password",
  "POST /api/workflows/:id/triggers/:trigger_id/rotate",
  "PUT /api/tools/scripted",
  // work that ends
  "POST /api/agents/:agent_id/v1/responses/:id/cancel",
  "POST /api/workflows/runs/:run_id/cancel",
  // refuses retries itself
  "POST /api/workflows/runs/change",
  "POST /api/workflows/approvals/:approval_id/decision",
  "POST /api/workflows/approvals/:approval_id/delegate",
  "POST /api/workflows/approvals/:approval_id/links",
  "POST /api/workflows/approval-links/:link_id/decision",
  // who decides what waits: the only one may be absent, or must not decide any more
  "PUT /api/groups/:group",
  "PUT /api/members/:id/substitute",
  // what the law may require, and the repair of commands that failed
  "POST /api/erasures",
  "POST /api/holds",
  "PUT /api/retention/:subject",
  "POST /api/dead-letters/:seq/replay",
];

/**
 * Refuses requests of organizations over the limit of their events or of their runs' values, before their bodies are read. A request without a credential
 * or a hook belongs to no organization yet.
 */
export function refuseOverLogLimit(app: App, http: LogNeeds): void {
  const allowed = new Set(ALLOWED_BEYOND);
  const missing = new Set(ALLOWED_BEYOND);
  app.addHook("onRoute", (route) => {
    const routes = [route.method].flat().flatMap((method) => (WRITES.has(method) ? [`${method} ${route.url}`] : []));
    for (const name of routes) missing.delete(name);
    if (routes.every((name) => allowed.has(name))) return;
    const check = async (request: FastifyRequest): Promise<void> => requireLogRoom(http, bodyOwner(request));
    // after authentication, so that strangers learn nothing about the organization
    route.preParsing = [check, ...[route.preParsing ?? []].flat()];
  });
  app.addHook("onReady", async () => {
    if (missing.size > 0) throw new Error(`no route is ${[...missing].join(", ")}`);
  });
}
