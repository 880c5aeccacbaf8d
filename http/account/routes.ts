import type { Http } from "../deps.ts";
import type { App } from "../app.ts";
import { agentRoutes } from "./agents.ts";
import { definitionRoutes } from "./definitions.ts";
import { keyRoutes } from "./keys.ts";
import { memberRoutes } from "./members.ts";
import { projectRoutes } from "./projects.ts";
import { providerRoutes } from "./providers.ts";
import { secretRoutes } from "./secrets.ts";
import { sessionRoutes } from "./sessions.ts";

/** What a signed-in person manages, below /api. */
export function accountRoutes(app: App, http: Http): void {
  sessionRoutes(app, http);
  memberRoutes(app, http);
  keyRoutes(app, http);
  projectRoutes(app, http);
  providerRoutes(app, http);
  agentRoutes(app, http);
  definitionRoutes(app, http);
  secretRoutes(app, http);
}
