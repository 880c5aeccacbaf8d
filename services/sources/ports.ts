import type { PageResult } from "#events/source.ts";

/* The ports for reading sources; infra/ and roles/ implement them. */

/** A server's cache validators, by which it can tell that a content is unchanged. */
export interface CacheValidators {
  etag: string | null;
  last_modified: string | null;
}

export interface WebFile extends CacheValidators {
  /** The address after redirects. */
  url: string;
  filename: string;
  /** The Content-Type that the server declares. */
  mimetype: string;
  bytes: Buffer;
}

export interface FetchOptions {
  /** Requests the content only if it has changed. */
  known?: CacheValidators | undefined;
  /** The User-Agent header. */
  agent?: string;
  /** Called before each request, redirects included; throws a WebError. */
  permit?: (url: URL) => Promise<void>;
}

/** `refusal`: why the page is not available; `status`: of the response, if there was one. */
export type FetchedPage = WebFile | { unchanged: true } | { refusal: string; status?: number };

/** Fetches a file of at most 10 MiB within 20 s. Addresses that are not public are refused. */
export type FetchPage = (url: string, signal: AbortSignal, options: FetchOptions) => Promise<FetchedPage>;

/** A file from the web, as it is stored. */
export interface PageFile {
  name: string;
  mime_type: string;
  sha256: string;
  bytes: Buffer;
}

/** The texts of a source that its state does not hold. */
export interface SourceAddress {
  url: string;
  include: string[];
  exclude: string[];
}

/** A page as earlier reads recorded it. */
export interface KnownPage extends CacheValidators {
  page: string;
  url: string;
  document_id: string | null;
  content_claim: string | null;
  result: PageResult;
  /** The number of the last read that visited it. */
  read: number;
}

export interface SourceReadModel {
  /** Undefined while the read model has not reached the position; `source` is null if it is deleted. */
  find(
    target: { source_id: string; organization_id: string },
    position: number,
  ): Promise<{ source: SourceAddress | null; pages: KnownPage[] } | undefined>;
}
