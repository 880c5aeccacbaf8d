import type { Page } from "./types.ts";

/** Rows per request. */
const PER_PAGE = 500;
/** Pages read of one list: 20,000 rows, or fewer if rows are long. */
const MAX_PAGES = 40;

/** A list that was read completely, or up to the limit. */
export interface Listing<T> extends Page<T> {
  /** False if there are more rows than these. */
  isWhole: boolean;
}

type ReadPage<T> = (page: { limit: number; offset: number }) => Promise<Page<T>>;

/** The key of a row with an id. */
export const byId = ({ id }: { id: string }): string => id;

/** Reads a list page by page. A row that moves to a later page meanwhile appears once, identified by its key. */
export async function readAll<T>(read: ReadPage<T>, keyOf: (row: T) => string): Promise<Listing<T>> {
  const rows = new Map<string, T>();
  let [offset, total] = [0, 1];
  for (let page = 0; page < MAX_PAGES && offset < total; page++) {
    const found = await read({ limit: PER_PAGE, offset });
    for (const row of found.data) rows.set(keyOf(row), row);
    // long rows make a page shorter
    offset += found.data.length;
    total = found.data.length === 0 ? offset : found.total;
  }
  return { data: [...rows.values()], total, isWhole: offset >= total };
}
