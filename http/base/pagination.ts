import { z } from "zod";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** Rows with long texts per page that count as a short read. Longer pages may have megabytes. */
export const MAX_SHORT_PAGE = 50;
/** The largest `integer` of PostgreSQL. */
const MAX_OFFSET = 2 ** 31 - 1;

/** The query parameters of every paged list. Values out of range are corrected, not refused. */
export const PageQuery = z.object({
  limit: z
    .string()
    .optional()
    .describe(
      "50 by default, 500 at most. Very long rows make a page shorter: continue at `offset` plus the number of rows.",
    ),
  offset: z.string().optional().describe("0 by default."),
});

function readInteger(text: string | undefined, fallback: number, min: number, max: number): number {
  const value = Number(text);
  if (!text || !Number.isFinite(value)) return fallback;
  return Math.min(max, Math.max(min, Math.trunc(value)));
}

export const readPage = ({ limit, offset }: z.infer<typeof PageQuery>) => ({
  limit: readInteger(limit, DEFAULT_LIMIT, 1, MAX_LIMIT),
  offset: readInteger(offset, 0, 0, MAX_OFFSET),
});

/** The body of every paged list. */
export const listSchema = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), total: z.int(), limit: z.int(), offset: z.int() });
