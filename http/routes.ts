import { accountRoutes } from "./account/routes.ts";
import { agentApiRoutes } from "./agents/routes.ts";
import type { App } from "./base/app.ts";
import type { Http } from "./base/deps.ts";
import { countWait, readTimeLeft } from "./base/requestTime.ts";
import { createTurnVault } from "./base/requireSpace.ts";
import { auditRoutes } from "./audit/routes.ts";
import { chatRoutes } from "./chat/routes.ts";
import { consoleRoutes, docsRoutes, referenceRoutes } from "./pages/routes.ts";
import { extractionRoutes } from "./extractions/routes.ts";
import { knowledgeRoutes } from "./knowledge/routes.ts";
import { metaRoutes } from "./meta/routes.ts";
import { operationRoutes } from "./operations/routes.ts";
import { ownedRoutes } from "./owned/routes.ts";
import { workflowDefinitionRoutes } from "./workflows/definitions.ts";
import { workflowRoutes } from "./workflows/routes.ts";

/** Registers every route of the service. */
export async function registerRoutes(app: App, http: Http): Promise<void> {
  await app.register(async (scope) => metaRoutes(scope as unknown as App, http));
  await app.register(async (scope) => consoleRoutes(scope as unknown as App, http));
  await app.register(async (scope) => docsRoutes(scope as unknown as App, http));
  await app.register(async (scope) => referenceRoutes(scope as unknown as App, http));
  const api =
    (routes: (app: App, http: Http) => void, given = http) =>
    async (instance: unknown) => {
      const scope = instance as App;
      // a request that waited longer would have no time left for its own reads, and its 503 would be late
      scope.addHook("onRequest", () => countWait(() => http.recovered(readTimeLeft())));
      routes(scope, given);
    };
  const turns = { ...http, vault: createTurnVault(http) };
  await app.register(api(chatRoutes, turns), { prefix: "/api/openai/v1" });
  await app.register(api(agentApiRoutes, turns), { prefix: "/api/agents/:agent_id/v1" });
  await app.register(api(accountRoutes), { prefix: "/api" });
  await app.register(api(auditRoutes), { prefix: "/api" });
  await app.register(api(ownedRoutes), { prefix: "/api" });
  await app.register(api(operationRoutes), { prefix: "/api" });
  await app.register(api(knowledgeRoutes), { prefix: "/api/v1/knowledge" });
  await app.register(api(extractionRoutes), { prefix: "/api/v1" });
  await app.register(api(workflowRoutes), { prefix: "/api/workflows" });
  await app.register(api(workflowDefinitionRoutes), { prefix: "/api" });
}
