import { z } from "zod";

const DEFAULT = 50;
const MOST = 500;

/** Query of every list of ours; what is out of range is corrected, not refused. */
export const PageQuery = z.object({
  limit: z.string().optional().describe("50 by default, 500 at most."),
  offset: z.string().optional().describe("0 by default."),
});

/** PostgreSQL's integers end here. */
const MAX_OFFSET = 2 ** 31 - 1;

function whole(text: string | undefined, fallback: number, least: number, most: number): number {
  const value = Number(text);
  if (!text || !Number.isFinite(value)) return fallback;
  return Math.min(most, Math.max(least, Math.trunc(value)));
}

export const pageOf = ({ limit, offset }: z.infer<typeof PageQuery>) => ({
  limit: whole(limit, DEFAULT, 1, MOST),
  offset: whole(offset, 0, 0, MAX_OFFSET),
});

/** The envelope of every list of ours. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), total: z.int(), limit: z.int(), offset: z.int() });
