import { z } from "zod";
import { usageBy, usageTotal, type Spent, type UsageRow } from "#projections/usage/query.ts";
import type { App } from "../app.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS = 30;

const Grouping = z.enum(["day", "key", "user", "model", "agent"]);
const Query = PageQuery.extend({
  from: z.string().optional().describe("The day or moment that it begins with; 30 days before `to` by default."),
  to: z.string().optional().describe("The day or moment before which it ends; now by default."),
  group_by: Grouping.default("day"),
});

const Sums = z.object({
  turns: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cached_tokens: z.int().describe("Part of the prompt's."),
  reasoning_tokens: z.int().describe("Part of the completion's."),
  pages: z.int().describe("Read for knowledge and extraction."),
});
const group = z.string().nullable().optional();
const Row = Sums.extend({
  day: z.string().optional().describe("UTC."),
  key: group.describe("Id; null: not with an API key."),
  user: group.describe("As it was sent; null for none, and once nothing of theirs is kept."),
  member: group.describe("Beside `user`: id of the person who was signed in."),
  model: group.describe("Null: pages."),
  agent: group.describe("Id; null: without one."),
  name: group.describe("Of the key, the agent or the member; null where it is gone."),
});
const Usage = listOf(Row).extend({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  group_by: Grouping,
  totals: Sums.describe("Of the whole time, whatever the page."),
});

const DAY = /^\d{4}-\d\d-\d\d$/;
const Moment = z.iso.datetime({ offset: true });
const LATEST = Date.UTC(10_000, 0);

/** A day stands for its first moment, UTC. Throws a 400. */
function momentOf(param: "from" | "to", text: string | undefined): Date | undefined {
  if (text === undefined || text === "") return undefined;
  const date = new Date(DAY.test(text) ? `${text}T00:00:00Z` : text);
  const isMoment = DAY.test(text) ? date.toJSON()?.startsWith(text) : Moment.safeParse(text).success;
  if (isMoment && date.getTime() >= 0 && date.getTime() < LATEST) return date;
  throw new ApiError(null, `${param}: must be a day (YYYY-MM-DD) or a moment (RFC 3339).`, { param });
}

const sumsOf = ({ turns, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, pages }: Spent) => ({
  turns,
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  cached_tokens,
  reasoning_tokens,
  pages,
});

function present({ group, name, member, ...spent }: UsageRow, by: z.infer<typeof Grouping>): z.infer<typeof Row> {
  const named = by === "key" || by === "agent" || by === "user" ? { name } : {};
  return { [by]: group, ...(by === "user" && { member }), ...named, ...sumsOf(spent) };
}

/** What the organization has spent (decisions: accounts), for owners and admins. */
export function usageRoutes(app: App, http: Http): void {
  const reading = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Tokens, turns and pages that the organization has spent",
    description: "Counted when a turn has ended and when a file was read; it stays when they are deleted.",
    querystring: Query,
    response: { 200: Usage },
  };
  app.get("/usage", { onRequest: requireAdmin(http), schema: reading }, async ({ caller, query }) => {
    const { group_by } = query;
    const page = pageOf(query);
    const to = momentOf("to", query.to) ?? new Date();
    const from = momentOf("from", query.from) ?? new Date(Math.max(0, to.getTime() - DAYS * DAY_MS));
    if (from > to) throw new ApiError(null, "from: must not be after to.", { param: "from" });
    await http.freshRead(["usage"]);
    const [{ rows, total }, totals] = await Promise.all([
      usageBy(http.db, caller.organization_id, { from, to, by: group_by, ...page }),
      usageTotal(http.db, caller.organization_id, { from, to }),
    ]);
    return {
      data: rows.map((row) => present(row, group_by)),
      total,
      ...page,
      from: from.toISOString(),
      to: to.toISOString(),
      group_by,
      totals: sumsOf(totals),
    };
  });
}
