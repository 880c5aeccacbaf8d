import type { z } from "zod";
import { listSchema, PageQuery, readPage } from "./pagination.ts";

export type Page = ReturnType<typeof readPage>;

/** The schema of a route that answers with a list in pages; `shared` is what it has in common with its neighbours. */
export const describeList = <S extends object, T extends z.ZodType>(shared: S, summary: string, item: T) => ({
  ...shared,
  summary,
  querystring: PageQuery,
  response: { 200: listSchema(item) },
});

/** Reads the page that a query asks for and presents its rows together. `limit` says how many rows it has, where their bytes have ended it early. */
export async function presentedPage<R, T>(
  query: z.infer<typeof PageQuery>,
  read: (page: Page) => Promise<{ rows: R[]; total: number }>,
  present: (rows: R[]) => Promise<T[]>,
): Promise<{ data: T[]; total: number } & Page> {
  const page = readPage(query);
  const { rows, total } = await read(page);
  const isCut = rows.length < page.limit && page.offset + rows.length < total;
  return { data: await present(rows), total, limit: isCut ? rows.length : page.limit, offset: page.offset };
}

/** The same for rows that are presented one by one. */
export const pageResponse = <R, T>(
  query: z.infer<typeof PageQuery>,
  read: (page: Page) => Promise<{ rows: R[]; total: number }>,
  present: (row: R) => T,
) => presentedPage(query, read, async (rows) => rows.map(present));

/** The same for a list that is short enough to be read whole. */
export const sliceResponse = <R, T>(query: z.infer<typeof PageQuery>, rows: R[], present: (row: R) => T) =>
  pageResponse(
    query,
    async ({ limit, offset }) => ({ rows: rows.slice(offset, offset + limit), total: rows.length }),
    present,
  );
