import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { eventRoutes } from "./events.ts";
import { traceRoutes } from "./trace.ts";
import { usageRoutes } from "./usage.ts";

/** What owners and admins see of all that has happened in their organization, below /api. */
export function auditRoutes(app: App, http: Http): void {
  eventRoutes(app, http);
  usageRoutes(app, http);
  traceRoutes(app, http);
}
