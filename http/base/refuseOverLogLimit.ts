import { isDeepStrictEqual } from "node:util";
import type { FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import { bodyOwner } from "./bodyBudget.ts";
import { requireFinalLogRoom, requireLogRoom, type LogNeeds } from "./storageLimits.ts";

const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/**
 * What an organization may always do, besides reading and deleting: store nothing, end something, or revoke access. Each of these
 * can happen only once for each thing, so that nobody can fill the log by repeating them
 * (docs/adr/0102-an-organization-has-a-share-of-the-log.md).
 */
export const ALWAYS_ALLOWED: readonly string[] = [
  // these store nothing
  "POST /api/definitions/check",
  "POST /api/definitions/check-types",
  "POST /api/definitions/:id/check-runs",
  "POST /api/erasures/preview",
  "POST /api/exports",
  "POST /api/retention/:subject/preview",
  "POST /api/v1/knowledge/search",
  "POST /api/v1/knowledge/verify",
  // the organization is known only after the password, and the sign-in counts itself (`countSignInBeyondLimit`)
  "POST /api/auth/login",
  "POST /api/auth/start",
  // what the law may require; it counts itself (`countErasureBeyondLimit`)
  "POST /api/erasures",
  // what ends
  "POST /api/auth/logout",
  "POST /api/agents/:agent_id/v1/responses/:id/cancel",
  "POST /api/workflows/runs/:run_id/cancel",
  // these refuse the rest themselves: retries, and changes other than fewer readers
  "POST /api/workflows/runs/change",
  "PATCH /api/v1/knowledge/documents/:id",
  // refuses itself, because the organization is known only with the link
  "POST /api/workflows/approval-links/:link_id/decision",
];

/** What it may do besides, until its events take 10 % more than they may: decide what waits, or change who has access. */
export const ALLOWED_BEYOND: readonly string[] = [
  "POST /api/auth/password",
  "PATCH /api/keys/:id",
  "POST /api/keys/:id/rotate",
  "PATCH /api/members/:id",
  "POST /api/members/:id/password",
  "POST /api/workflows/:id/triggers/:trigger_id/rotate",
  "PUT /api/tools/scripted",
  "POST /api/workflows/approvals/:approval_id/decision",
  "POST /api/workflows/approvals/:approval_id/delegate",
  "POST /api/workflows/approvals/:approval_id/links",
  // who decides what waits: the only one may be absent, or must not decide any more
  "PUT /api/groups/:group",
  "PUT /api/members/:id/substitute",
  // what the law may require, and the repair of commands that failed
  "POST /api/holds",
  "PUT /api/retention/:subject",
  "POST /api/dead-letters/:seq/replay",
];

/** Bodies with which a route only revokes or ends something, once: they are always allowed. What they undo is refused. */
export const REVOCATIONS: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  "PATCH /api/members/:id": { active: false },
  "PUT /api/tools/scripted": { enabled: false },
  "PATCH /api/v1/knowledge/sources/:id": { paused: true },
  "PATCH /api/workflows/:id": { enabled: false },
  "PATCH /api/workflows/:id/triggers/:trigger_id": { paused: true },
};

const isRevocation = (name: string, body: unknown): boolean =>
  typeof body === "object" && body !== null && isDeepStrictEqual({ ...body }, REVOCATIONS[name]);

/** Refuses a request of an organization without enough room. */
const checkRoom =
  (http: LogNeeds, requireRoom: typeof requireLogRoom) =>
  async (request: FastifyRequest): Promise<void> =>
    requireRoom(http, bodyOwner(request));

/**
 * Refuses requests of organizations over the limit of their events or of their runs' values, also to routes that are added later.
 * Bodies are not read before, unless they tell what is allowed. A request without a credential or a hook belongs to no organization
 * yet.
 */
export function refuseOverLogLimit(app: App, http: LogNeeds): void {
  const [always, beyond] = [new Set(ALWAYS_ALLOWED), new Set(ALLOWED_BEYOND)];
  const missing = new Set([...always, ...beyond, ...Object.keys(REVOCATIONS)]);
  app.addHook("onRoute", (route) => {
    const routes = [route.method].flat().flatMap((method) => (WRITES.has(method) ? [`${method} ${route.url}`] : []));
    for (const name of routes) missing.delete(name);
    if (routes.every((name) => always.has(name))) return;
    const check = checkRoom(http, routes.every((name) => beyond.has(name)) ? requireFinalLogRoom : requireLogRoom);
    const [name = ""] = routes;
    if (name in REVOCATIONS) {
      const checkBody = async (request: FastifyRequest) => {
        if (!isRevocation(name, request.body)) await check(request);
      };
      route.preHandler = [checkBody, ...[route.preHandler ?? []].flat()];
      return;
    }
    // after authentication, so that strangers learn nothing about the organization
    route.preParsing = [check, ...[route.preParsing ?? []].flat()];
  });
  app.addHook("onReady", async () => {
    if (missing.size > 0) throw new Error(`no route is ${[...missing].join(", ")}`);
  });
}
