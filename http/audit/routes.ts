import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { changeRoutes } from "./changes.ts";
import { eventCheckRoute } from "./eventCheck.ts";
import { eventHistogramRoute } from "./eventHistogram.ts";
import { eventRoutes } from "./events.ts";
import { findRoute } from "./find.ts";
import { findNamesRoute } from "./findNames.ts";
import { requestRoutes } from "./requests.ts";
import { traceRoutes } from "./trace.ts";
import { usageLabelRoutes, usageRoutes } from "./usage.ts";

/** Routes below /api: audit log and usage for owners and admins, requests and traces also for builders, changes for everybody. */
export function auditRoutes(app: App, http: Http): void {
  eventRoutes(app, http);
  eventHistogramRoute(app, http);
  eventCheckRoute(app, http);
  changeRoutes(app, http);
  usageRoutes(app, http);
  usageLabelRoutes(app, http);
  requestRoutes(app, http);
  traceRoutes(app, http);
  findRoute(app, http);
  findNamesRoute(app, http);
}
