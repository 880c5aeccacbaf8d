import type { App } from "../base/app.ts";
import { requireProduct } from "../auth/authenticate.ts";
import type { Http } from "../base/deps.ts";
import { collectionDocumentRoutes } from "./collectionDocuments.ts";
import { batchRoute } from "./batch/batch.ts";
import { collectionRoutes } from "./collections.ts";
import { contentRoutes } from "./documentContent.ts";
import { passageRoutes } from "./documentPassages.ts";
import { documentListRoute } from "./documentList.ts";
import { documentRoutes } from "./documents.ts";
import { versionRoutes } from "./documentVersions.ts";
import { searchRoute } from "./search.ts";
import { sourceActionRoutes } from "./sourceActions.ts";
import { sourceRoutes } from "./sources.ts";
import { verifyRoute } from "./verify.ts";

/** Everything below /api/v1/knowledge. */
export function knowledgeRoutes(app: App, http: Http): void {
  app.addHook("onRequest", requireProduct(http, "knowledge"));
  collectionRoutes(app, http);
  collectionDocumentRoutes(app, http);
  documentListRoute(app, http);
  batchRoute(app, http);
  sourceRoutes(app, http);
  sourceActionRoutes(app, http);
  documentRoutes(app, http);
  contentRoutes(app, http);
  passageRoutes(app, http);
  versionRoutes(app, http);
  searchRoute(app, http);
  verifyRoute(app, http);
}
