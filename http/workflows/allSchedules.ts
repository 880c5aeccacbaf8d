import { listScheduleTriggers } from "#projections/triggers/query.ts";
import { requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, presentedPage, type Page } from "../base/pageResponse.ts";
import { presentTriggers } from "./presentTriggers.ts";
import { Trigger } from "./triggerShape.ts";

/** The schedules of all workflows of an organization, for everybody signed in. */
export function scheduleRoutes(app: App, http: Http): void {
  const shared = {
    tags: ["Workflows"],
    security: [{ session: [] }],
    description: "The triggers of all workflows that are schedules, newest first, without those that are disabled.",
  };
  const schema = describeList(shared, "List the schedules of the organization", Trigger);
  app.get("/schedules", { onRequest: requireSession(http), schema }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["triggers"]);
    const read = (page: Page) => listScheduleTriggers(http.db, caller.organization_id, page);
    return presentedPage(query, read, (rows) => presentTriggers(http, rows));
  });
}
