import { z } from "zod";
import { findNamed, type NamedKind } from "#projections/named.ts";
import { isAdmin, isBuilder, requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";

/** Maximum results. A longer search text finds the others. */
const MAX_NAMES = 20;

/** The kinds whose names the caller may see, with the same roles as the lists of each kind. */
const visibleKinds = (caller: Caller): NamedKind[] => [
  "agent",
  "collection",
  "workflow",
  "user",
  ...(isBuilder(caller) ? (["definition"] as const) : []),
  ...(isAdmin(caller) ? (["key"] as const) : []),
];

const NamedThing = z
  .object({
    kind: z.enum(["agent", "collection", "workflow", "user", "definition", "key"]).describe("`user` is a member."),
    id: z.string(),
    name: z.string(),
  })
  .meta({ title: "NamedThing" });

/** Finds things by a part of their name, for everybody who is signed in. */
export function findNamesRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Find things by a part of their name",
    description:
      "Agents, collections, workflows and members; for builders also definitions, for admins and owners also API keys. " +
      `At most ${MAX_NAMES}, sorted by name, those whose names begin with the text first.`,
    querystring: z.object({
      name: z.string().trim().min(1).max(300).describe("A part of the name, in any case."),
    }),
    response: {
      200: z.object({
        data: z.array(NamedThing),
        has_more: z.boolean().describe("Whether more names contain the text."),
      }),
    },
  };
  app.get("/find/names", { onRequest: requireSession(http), schema }, async ({ caller, query: { name: text } }) => {
    const kinds = visibleKinds(caller);
    await http.waitUntilCurrent(["agents", "collections", "workflows", "users", "definitions", "keys"]);
    const found = await findNamed(http.db, caller.organization_id, { text, kinds, limit: MAX_NAMES + 1 });
    return { data: found.slice(0, MAX_NAMES), has_more: found.length > MAX_NAMES };
  });
}
