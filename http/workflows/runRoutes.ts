import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { approvalRoutes } from "./approvals.ts";
import { directRoutes } from "./direct.ts";
import { followRoutes } from "./follow.ts";
import { hookRoutes } from "./hooks.ts";
import { readData } from "./payload.ts";
import { readRoutes } from "./runs.ts";

/** Runs below /api/workflows: how they start, what they tell, and what people decide of them. */
export function runRoutes(app: App, http: Http): void {
  readRoutes(app, http);
  approvalRoutes(app, http);
  followRoutes(app, http);
  // what a run is started with is read otherwise than the bodies of other routes
  void app.register(async (scope) => {
    readData(scope);
    directRoutes(scope, http);
  });
  void app.register(async (scope) => hookRoutes(scope, http));
}
