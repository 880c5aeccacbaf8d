import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { erasureRoutes } from "./erasures.ts";
import { exportRoutes } from "./exports.ts";
import { listedExtractionRoutes } from "./extractions.ts";
import { fileRoutes } from "./files.ts";
import { holdRoutes } from "./holds.ts";
import { previewErasureRoute } from "./previewErasure.ts";
import { responseRoutes } from "./responses.ts";
import { retentionRoutes } from "./retention.ts";
import { threadRoutes } from "./threads.ts";

/** Routes below /api for what keys, people and agents own: their own things for everybody, those of all owners for owners and admins. */
export function ownedRoutes(app: App, http: Http): void {
  threadRoutes(app, http);
  fileRoutes(app, http);
  responseRoutes(app, http);
  erasureRoutes(app, http);
  previewErasureRoute(app, http);
  retentionRoutes(app, http);
  holdRoutes(app, http);
  exportRoutes(app, http);
  listedExtractionRoutes(app, http);
}
