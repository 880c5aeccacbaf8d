import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { approvalLinkRoutes } from "./approvalLinks.ts";
import { approvalPeopleRoutes } from "./approvalPeople.ts";
import { attachmentRoutes } from "./attachments.ts";
import { approvalRoutes } from "./approvals.ts";
import { eventStreamRoutes } from "./eventStream.ts";
import { changeManyRoute } from "./changeMany.ts";
import { retryAndForkRoutes } from "./retryAndForkRoutes.ts";
import { hookRoutes } from "./hooks.ts";
import { messageRoutes } from "./messages.ts";
import { scheduleRoutes } from "./allSchedules.ts";
import { linkedApprovalRoutes } from "./linkedApproval.ts";
import { acceptOpaqueJson } from "./opaqueJson.ts";
import { runFileRoutes } from "./runFiles.ts";
import { runRoutes } from "./runs.ts";
import { runStepRoutes } from "./runSteps.ts";
import { startRoutes } from "./startRoutes.ts";
import { triggerRoutes } from "./triggers.ts";
import { registrationRoutes } from "./workflows.ts";

/** Everything below /api/workflows. */
export function workflowRoutes(app: App, http: Http): void {
  registrationRoutes(app, http);
  triggerRoutes(app, http);
  scheduleRoutes(app, http);
  runRoutes(app, http);
  runStepRoutes(app, http);
  retryAndForkRoutes(app, http);
  changeManyRoute(app, http);
  messageRoutes(app, http);
  runFileRoutes(app, http);
  approvalRoutes(app, http);
  approvalPeopleRoutes(app, http);
  attachmentRoutes(app, http);
  approvalLinkRoutes(app, http);
  linkedApprovalRoutes(app, http);
  eventStreamRoutes(app, http);
  // own scopes, because the arguments of a run are parsed differently from other bodies
  void app.register(async (scope) => {
    acceptOpaqueJson(scope);
    startRoutes(scope, http);
  });
  void app.register(async (scope) => hookRoutes(scope, http));
}
