import { z } from "zod";
import { LABEL_NAME } from "#events/labels.ts";
import { mapInSlices } from "#events/slices.ts";
import { listLabels } from "#projections/usage/labels.ts";
import { listUsage, sumUsage, type UsageSums, type UsageRow } from "#projections/usage/query.ts";
import type { App } from "../base/app.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { MAX_CSV_ROWS, sendCsv, toCsv } from "./usageCsv.ts";
import { listSchema, readPage } from "../base/pagination.ts";
import { PeriodQuery, readPeriod } from "./usagePeriod.ts";

const Grouping = z.enum(["day", "project", "key", "person", "user", "model", "agent", "workflow", "label"]);
const Query = PeriodQuery.extend({
  group_by: Grouping.default("day"),
  label: z
    .string()
    .regex(LABEL_NAME, "must be 1 to 32 of a-z, 0-9, _ and -, a letter first")
    .optional()
    .describe("With `group_by=label`, which needs it: the label by whose values the turns are grouped."),
  format: z
    .enum(["json", "csv"], 'must be "json" or "csv"')
    .default("json")
    .describe(
      `\`csv\`: all groups without pages, as a download; the columns are the fields of \`data\`. If there are more than ${MAX_CSV_ROWS} groups, the last line says how many.`,
    ),
});

const Sums = z.object({
  turns: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cached_tokens: z.int().describe("Included in `prompt_tokens`."),
  reasoning_tokens: z.int().describe("Included in `completion_tokens`."),
  pages: z.int().describe("Pages read for knowledge and extraction."),
  cost: z
    .string()
    .nullable()
    .describe("US dollars, exact, without turns of models that have no price. Null if no turn has a known cost."),
  turns_without_cost: z
    .int()
    .describe("Turns with tokens whose cost is not known: their model had no price when they ended."),
});
const group = z.string().nullable().optional();
const Row = Sums.extend({
  day: z.string().optional().describe("UTC."),
  project: group.describe("Id; null: outside projects."),
  key: group.describe("Id; null: without an API key."),
  person: group.describe("Id of the person who was signed in; null: nobody was."),
  user: group.describe(
    "The `user` of the request; null without one, and once everything of that user has been deleted.",
  ),
  member: group.describe("With `user`: id of the person who was signed in."),
  model: group.describe("Null for pages."),
  agent: group.describe("Id; null: without an agent."),
  workflow: group.describe("Id of the workflow whose step asked; null: outside workflows."),
  label: group.describe("The value of the label; null: without it."),
  name: group.describe(
    "Of the project, the key, the agent, the workflow or the person; null when it has been deleted.",
  ),
});
const Usage = listSchema(Row)
  .extend({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    group_by: Grouping,
    totals: Sums.describe("Of the whole period, not only of this page."),
  })
  .meta({ title: "Usage" });
const Label = z.object({ label: z.string().describe("Its name."), turns: z.int().describe("Turns with this label.") });
const Labels = listSchema(Label)
  .extend({ from: z.iso.datetime(), to: z.iso.datetime() })
  .meta({ title: "UsageLabels" });

const presentSums = (sums: UsageSums) => ({
  turns: sums.turns,
  prompt_tokens: sums.prompt_tokens,
  completion_tokens: sums.completion_tokens,
  total_tokens: sums.prompt_tokens + sums.completion_tokens,
  cached_tokens: sums.cached_tokens,
  reasoning_tokens: sums.reasoning_tokens,
  pages: sums.pages,
  cost: sums.cost,
  turns_without_cost: sums.turns_without_cost,
});

const hasNames = (by: z.infer<typeof Grouping>): boolean => by !== "day" && by !== "model" && by !== "label";

function present({ group, name, member, ...spent }: UsageRow, by: z.infer<typeof Grouping>): z.infer<typeof Row> {
  const nameField = hasNames(by) ? { name } : {};
  return { [by]: group, ...(by === "user" && { member }), ...nameField, ...presentSums(spent) };
}

/** The columns of a CSV, in the order of the fields. */
const columnsOf = (by: z.infer<typeof Grouping>): string[] => [
  by,
  ...(by === "user" ? ["member"] : []),
  ...(hasNames(by) ? ["name"] : []),
  ...Object.keys(Sums.shape),
];

/** Tokens, turns, pages and cost of the organization, for owners and admins. */
export function usageRoutes(app: App, http: Http): void {
  const reading = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Get the usage of the organization",
    description:
      "Tokens, turns and cost count when a turn ends, pages when a file has been read. Deleting them does not change the usage, and neither does a new price.",
    querystring: Query,
    response: { 200: Usage },
  };
  app.get("/usage", { onRequest: requireAdmin(http), schema: reading }, async (request, reply) => {
    const { caller, query } = request;
    const { group_by, label } = query;
    if (group_by === "label" && label === undefined)
      throw new ApiError(null, "label: must name the label whose values are the groups.", { param: "label" });
    const page = readPage(query);
    const { from, to } = readPeriod(query);
    await http.waitUntilCurrent(["usage"]);
    await request.acquireLongRead();
    if (query.format === "csv") {
      const all = { from, to, by: group_by, label, limit: MAX_CSV_ROWS, offset: 0 };
      const { rows, total } = await listUsage(http.db, caller.organization_id, all);
      const presented = await mapInSlices(rows, (row) => present(row, group_by));
      return sendCsv(request, reply, await toCsv(columnsOf(group_by), presented, total));
    }
    const [{ rows, total }, totals] = await Promise.all([
      listUsage(http.db, caller.organization_id, { from, to, by: group_by, label, ...page }),
      sumUsage(http.db, caller.organization_id, { from, to }),
    ]);
    return {
      data: rows.map((row) => present(row, group_by)),
      total,
      ...page,
      from: from.toISOString(),
      to: to.toISOString(),
      group_by,
      totals: presentSums(totals),
    };
  });
}

/** Names of the labels of turns in a period, for owners and admins. */
export function usageLabelRoutes(app: App, http: Http): void {
  const listing = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "List the labels that requests have",
    description:
      "The names of labels that callers gave their requests in `x-labels`, most used first. `GET /api/usage` can group by the values of one.",
    querystring: PeriodQuery,
    response: { 200: Labels },
  };
  app.get("/usage/labels", { onRequest: requireAdmin(http), schema: listing }, async (request) => {
    const { caller, query } = request;
    const page = readPage(query);
    const { from, to } = readPeriod(query);
    await http.waitUntilCurrent(["usage"]);
    await request.acquireLongRead();
    const { rows, total } = await listLabels(http.db, caller.organization_id, { from, to, ...page });
    return { data: rows, total, ...page, from: from.toISOString(), to: to.toISOString() };
  });
}
