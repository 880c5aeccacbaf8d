import { registerProtectedRoutes } from "../auth/registerProtectedRoutes.ts";
import type { Http } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { completionRoute } from "./completions.ts";
import { fileRoutes } from "./files.ts";
import { misplacedChatRoutes } from "../base/misplacedPaths.ts";
import { modelRoutes } from "./models.ts";
import { threadRoutes } from "./threads.ts";

/** The routes below /api/openai/v1. */
export function chatRoutes(app: App, http: Http): void {
  misplacedChatRoutes(app, http);
  registerProtectedRoutes(app, http, [completionRoute, modelRoutes, fileRoutes, threadRoutes]);
}
