import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { runRoutes } from "./runRoutes.ts";
import { triggerRoutes } from "./triggers.ts";
import { registeredRoutes } from "./workflows.ts";

/** Everything below /api/workflows. */
export function workflowRoutes(app: App, http: Http): void {
  registeredRoutes(app, http);
  triggerRoutes(app, http);
  runRoutes(app, http);
}
