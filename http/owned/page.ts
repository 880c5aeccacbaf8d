import { z } from "zod";
import type { OwnedPage } from "#projections/owner.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { readPage } from "../base/pagination.ts";

/** Maximum page size, because each row of a list of threads reads its turns. */
const MAX_LIMIT = 100;

/** The query of every list by owner. */
export const CursorQuery = z.object({
  after: z.string().optional().describe("The `next_after` of the page before."),
  limit: z.string().optional().describe(`50 by default, ${MAX_LIMIT} at most.`),
});

/** The body of every list by owner. */
export const cursorList = <T extends z.ZodType>(item: T) =>
  z.object({
    object: z.literal("list"),
    data: z.array(item),
    next_after: z.string().nullable().describe("`after` of the next page; null if this is the last."),
    has_more: z.boolean(),
  });

interface PositionedRow {
  position: number;
}

/** Reads a page and presents its rows. A cursor is a sealed position in the log. Throws 400 for an invalid `after`. */
export async function readCursorPage<R extends PositionedRow, T>(
  { keyring }: Pick<Http, "keyring">,
  { organization_id }: { organization_id: string },
  query: z.infer<typeof CursorQuery>,
  read: (page: OwnedPage) => Promise<R[]>,
  present: (row: R) => T,
) {
  const purpose = `owned:${organization_id}`;
  const before = query.after === undefined ? null : keyring.openNumber(purpose, query.after);
  if (before === undefined) throw new ApiError(null, "after: must be the next_after of a page.", { param: "after" });
  const limit = Math.min(MAX_LIMIT, readPage(query).limit);
  // one extra row shows whether there is a next page
  const rows = await read({ before, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const has_more = rows.length > limit;
  const next_after = has_more ? keyring.sealNumber(purpose, shown.at(-1)!.position) : null;
  return { object: "list" as const, data: shown.map(present), next_after, has_more };
}
