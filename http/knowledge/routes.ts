import type { App } from "../app.ts";
import { requireProduct } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { arrivalRoutes } from "./arrivals.ts";
import { collectionRoutes } from "./collections.ts";
import { contentRoutes } from "./content.ts";
import { documentRoutes } from "./documents.ts";
import { searchRoute } from "./search.ts";

/** Everything below /api/v1/knowledge. */
export function knowledgeRoutes(app: App, http: Http): void {
  app.addHook("onRequest", requireProduct(http, "knowledge"));
  collectionRoutes(app, http);
  arrivalRoutes(app, http);
  documentRoutes(app, http);
  contentRoutes(app, http);
  searchRoute(app, http);
}
