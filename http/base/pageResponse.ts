import type { z } from "zod";
import { listSchema, PageQuery, readPage } from "./pagination.ts";

export type Page = ReturnType<typeof readPage>;

/** The schema of a route that answers with a paged list. `shared` is merged in. */
export const describeList = <S extends object, T extends z.ZodType>(shared: S, summary: string, item: T) => ({
  ...shared,
  summary,
  querystring: PageQuery,
  response: { 200: listSchema(item) },
});

/** Reads a page and presents its rows together. `limit` is the number of rows, if the byte limit has shortened the page. */
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

/** Like `presentedPage`, but presents each row by itself. */
export const pageResponse = <R, T>(
  query: z.infer<typeof PageQuery>,
  read: (page: Page) => Promise<{ rows: R[]; total: number }>,
  present: (row: R) => T,
) => presentedPage(query, read, async (rows) => rows.map(present));

/** Like `pageResponse`, for lists that are short enough to be read whole. */
export const sliceResponse = <R, T>(query: z.infer<typeof PageQuery>, rows: R[], present: (row: R) => T) =>
  pageResponse(
    query,
    async ({ limit, offset }) => ({ rows: rows.slice(offset, offset + limit), total: rows.length }),
    present,
  );
