import { queryOptions } from "@tanstack/react-query";
import type { Rule } from "./triggers.ts";
import { call, itemPath, pageQuery, queryAll, queryOne } from "./call.ts";
import { byId } from "./readAll.ts";
import type { Page } from "./types.ts";

/* Pages and sitemaps of the web whose pages are documents of a collection. */

export const PAGE_RESULTS = ["new", "changed", "same", "failed", "gone", "removed"] as const;
export type PageResult = (typeof PAGE_RESULTS)[number];

export interface Source {
  id: string;
  kind: "url" | "sitemap";
  url: string;
  schedule: Rule | null;
  include: string[];
  exclude: string[];
  max_pages: number;
  when_gone: "delete" | "keep";
  paused: boolean;
  next_at: string | null;
  last_read: {
    read: number;
    status: "reading" | "ended" | "stopped";
    started_at: string;
    ended_at: string | null;
    /** Null until it is known. */
    listed: number | null;
    pages: Record<PageResult, number>;
    error: string | null;
  };
}

export interface SourcePage {
  url: string;
  result: PageResult;
  error: string | null;
  document_id: string | null;
  checked_at: string;
}

export const SOURCE_PAGES_PER_PAGE = 50;

const inCollection = (reference: string) => `${itemPath("v1/knowledge/collections", reference)}/sources`;
const pathOf = (id: string) => itemPath("v1/knowledge/sources", id);

export const listSources = (reference: string) =>
  queryOptions({
    queryKey: ["source", "list", reference],
    queryFn: queryAll<Source>(inCollection(reference), byId),
  });

/** One page of a source's results, newest first; `page` counts from 0. */
export const listSourcePages = (id: string, result: PageResult | undefined, page: number) =>
  queryOptions({
    queryKey: ["source", "pages", id, result, page],
    queryFn: queryOne<Page<SourcePage>>(`${pathOf(id)}/pages`, {
      result,
      ...pageQuery(page, SOURCE_PAGES_PER_PAGE),
    }),
    placeholderData: (previous, query) => (query?.queryKey[2] === id ? previous : undefined),
  });

export const createSource = (reference: string, body: object) =>
  call<Source>(inCollection(reference), { method: "POST", body });
export const pauseSource = (id: string, paused: boolean) =>
  call<Source>(pathOf(id), { method: "PATCH", body: { paused } });
export const readSource = (id: string) => call<Source>(`${pathOf(id)}/read`, { method: "POST" });
export const deleteSource = (id: string, documents: boolean) =>
  call<null>(pathOf(id), { method: "DELETE", query: { documents: String(documents) } });
