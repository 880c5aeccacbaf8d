import { requireCredential } from "../auth/authenticate.ts";
import type { Http } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { completionRoute } from "./completions.ts";
import { fileRoutes } from "./files.ts";
import { misplacedChatRoutes } from "../base/misplacedPaths.ts";
import { modelRoutes } from "./models.ts";
import { threadRoutes } from "./threads.ts";

/** Everything below /api/openai/v1. */
export function chatRoutes(app: App, http: Http): void {
  misplacedChatRoutes(app, http);
  app.register(async (scope) => {
    scope.addHook("onRequest", requireCredential(http));
    const known = scope as unknown as App;
    completionRoute(known, http);
    modelRoutes(known, http);
    fileRoutes(known, http);
    threadRoutes(known, http);
  });
}
