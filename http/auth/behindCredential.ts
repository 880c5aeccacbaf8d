import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { requireCredential } from "./authenticate.ts";

/** Registers routes for callers with an API key or a session. Others of `app`, registered beside them, need none. */
export function behindCredential(app: App, http: Http, registerRoutes: ((app: App, http: Http) => void)[]): void {
  app.register(async (scope) => {
    scope.addHook("onRequest", requireCredential(http));
    for (const register of registerRoutes) register(scope, http);
  });
}
