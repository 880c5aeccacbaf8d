import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import { readStreamWithBudget } from "../base/readStreamWithBudget.ts";
import { foldRun } from "./foldRun.ts";
import { requireRun } from "./lookups.ts";
import { countOpenedBytes, createOpenValue } from "./runValues.ts";
import { explainStep, StepReason } from "./stepReason.ts";
import { presentSteps, RunStep, stepsOf } from "./stepShape.ts";

const Query = PageQuery.extend({
  status: RunStep.shape.status.optional(),
  values: z.enum(["true", "false"]).optional().describe("Whether with arguments and results. Default: false."),
});

/** The steps of a run in pages: a run may have thousands, with long values. */
export function runStepRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Workflows"], security: [{ key: [] }] };
  const schema = {
    ...describeList(baseSchema, "List the steps of a run, in the order in which they were scheduled", RunStep),
    description: "Read from the log. What the parent run answered comes first.",
    params: z.object({ run_id: z.string() }),
    querystring: Query,
  };
  app.get("/runs/:run_id/steps", { onRequest: requireCredential(http), schema }, async (request) => {
    const { caller, params, query } = request;
    const row = await requireRun(http, caller, params.run_id);
    const run = await foldRun(await readStreamWithBudget(http, request, streamName("run", row.id)));
    const open = countOpenedBytes(request, createOpenValue(http, row));
    const steps = await stepsOf(run, row, open);
    const wanted = query.status ? steps.filter(({ step }) => step.status === query.status) : steps;
    const { data, ...page } = await sliceResponse(query, wanted, (step) => step);
    return { data: await presentSteps(data, run, row, query.values === "true" ? open : undefined), ...page };
  });

  const explaining = {
    ...baseSchema,
    summary: "Say why a step was executed",
    description:
      "For a run that retries or forks another one: what that run recorded of the same call, and what differs before it. Computed from the log of both.",
    params: z.object({ run_id: z.string(), step_id: z.string() }),
    response: { 200: StepReason },
  };
  app.get(
    "/runs/:run_id/steps/:step_id/reason",
    { onRequest: requireCredential(http), schema: explaining },
    (request) => explainStep(http, request, request.params.run_id, request.params.step_id),
  );
}
