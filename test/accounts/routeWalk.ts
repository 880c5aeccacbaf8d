import { expect } from "vitest";
import { Role } from "#events/user.ts";
import { startPlatform } from "../platform.ts";
import type { Client } from "../workflows/tenant.ts";
import { callRoute, listRoutes, openHomeAndForeign } from "./everyRoute.ts";
import { readPermissions, type Holder, type Permission } from "./permissionTable.ts";

/* Calls every route of /openapi.json with every kind of credential. */

/** Status of each code with which a credential is refused. */
const REFUSALS: Record<string, number> = {
  missing_api_key: 401,
  invalid_api_key: 401,
  invalid_session: 401,
  api_key_disabled: 401,
  expired_api_key: 401,
  missing_webhook_secret: 401,
  invalid_webhook_secret: 401,
  session_required: 403,
  forbidden: 403,
  approver_not_allowed: 403,
  product_not_enabled: 403,
};
const SIGNING_IN = new Set(["POST /api/auth/login", "POST /api/auth/start"]);
/** Routes that are called at the same time. */
const AT_ONCE = 8;

export const isHook = (route: string): boolean => route.includes("/hooks/");
/** The outcome that a cell of the table demands. */
export const expectedOutcome = (cell: string): string =>
  cell === "yes" || cell === "own" ? "allowed" : `${REFUSALS[cell]} ${cell}`;

/** The refusal of a credential with its status, or `allowed`. */
async function outcome(call: Client, route: string, things?: Record<string, string>): Promise<string> {
  const { status, body, text } = await callRoute(call, route, things);
  expect(status, `${route}: ${text}`).toBeLessThan(500);
  const code = body?.error?.code as string | undefined;
  return code !== undefined && code in REFUSALS ? `${status} ${code}` : "allowed";
}

/** A platform with two organizations, a caller of each kind, and the table of docs/permissions.md. */
export async function openRouteWalk() {
  const platform = await startPlatform();
  const stage = await openHomeAndForeign(platform);
  const [table, routes] = [readPermissions(), await listRoutes(platform.url)];
  const { home, things, keyWith } = stage;
  const roles = Object.fromEntries(
    await Promise.all(Role.options.map(async (role) => [role, (await home.member(role)).call] as const)),
  ) as Record<Role, Client>;
  const nobody: Client = (method, path, body, headers) =>
    home.key(method, path, body, { ...headers, authorization: "" });
  const clients: Record<Holder, Client> = {
    ...roles,
    nobody,
    "API key": home.key,
    "project key": (await keyWith({ project_id: things["projects"] })).call,
    "webhook secret": home.clientAt(things["hook_secret"]!),
  };
  /** Hooks and approvals check their credential once they are found; every other route checks it before. */
  const thingsFor = (route: string) => (isHook(route) || route.endsWith("{approval_id}/decision") ? things : undefined);
  return {
    stage,
    table,
    routes,
    clients,
    /** Routes whose answer depends on a credential of the table. */
    secured: () => table.filter(({ route }) => !SIGNING_IN.has(route) && !route.includes("/approval-links/")),
    /** What every route answers, by route. */
    async outcomes(call: Client, rows: Permission[]): Promise<Record<string, string>> {
      const waiting = [...rows];
      const found: Record<string, string> = {};
      const work = async () => {
        for (let row = waiting.shift(); row; row = waiting.shift())
          found[row.route] = await outcome(call, row.route, thingsFor(row.route));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return found;
    },
  };
}
