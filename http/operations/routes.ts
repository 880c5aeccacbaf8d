import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { deadLetterRoutes } from "./deadLetters.ts";
import { healthRoutes } from "./health.ts";

/** Routes for operators of the deployment, below /api. */
export function operationRoutes(app: App, http: Http): void {
  healthRoutes(app, http);
  deadLetterRoutes(app, http);
}
