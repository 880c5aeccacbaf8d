import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { requireCredential } from "./authenticate.ts";

/** Registers routes that need an API key or a session. Other routes of `app` are not affected. */
export function registerProtectedRoutes(
  app: App,
  http: Http,
  registerRoutes: ((app: App, http: Http) => void)[],
): void {
  app.register(async (scope) => {
    scope.addHook("onRequest", requireCredential(http));
    for (const register of registerRoutes) register(scope, http);
  });
}
