import type { Http } from "../base/deps.ts";
import type { App } from "../base/app.ts";
import { agentRoutes } from "./agents.ts";
import { aliasRoutes } from "./aliases.ts";
import { budgetRoutes } from "./budgets.ts";
import { checkRoutes } from "./checkDefinition.ts";
import { typeRoutes } from "./checkTypes.ts";
import { definitionRoutes } from "./definitions.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { groupRoutes } from "./groups.ts";
import { keyRoutes } from "./keys.ts";
import { memberRoutes } from "./members.ts";
import { ocrRoutes } from "./ocr.ts";
import { ownLimitRoutes } from "./ownLimits.ts";
import { priceRoutes } from "./prices.ts";
import { projectRoutes } from "./projects.ts";
import { providerRoutes } from "./providers.ts";
import { scriptedToolsRoutes } from "./scriptedTools.ts";
import { secretRoutes } from "./secrets.ts";
import { sessionRoutes } from "./sessions.ts";
import { substituteRoutes } from "./substitutes.ts";
import { toolRoutes } from "./tools.ts";

/** All account routes below /api. */
export function accountRoutes(app: App, http: Http): void {
  sessionRoutes(app, http);
  memberRoutes(app, http);
  substituteRoutes(app, http);
  keyRoutes(app, http);
  projectRoutes(app, http);
  groupRoutes(app, http);
  providerRoutes(app, http);
  embeddingRoutes(app, http);
  ocrRoutes(app, http);
  priceRoutes(app, http);
  aliasRoutes(app, http);
  budgetRoutes(app, http);
  ownLimitRoutes(app, http);
  agentRoutes(app, http);
  definitionRoutes(app, http);
  checkRoutes(app, http);
  typeRoutes(app, http);
  secretRoutes(app, http);
  toolRoutes(app, http);
  scriptedToolsRoutes(app, http);
}
