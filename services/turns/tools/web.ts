/* The port to the web; infra/web implements it. */

export interface WebHit {
  url: string;
  title: string;
  /** The search engine's excerpt. */
  snippet: string;
}

export interface WebPage {
  /** After redirects. */
  url: string;
  title: string;
  /** Markdown. */
  text: string;
}

/** A search or a fetch failed; the message is for the model. */
export class WebError extends Error {
  override name: string = "WebError";
}

/** The address is not allowed; a retry does not help. */
export class WebRefused extends WebError {
  override name = "WebRefused";
}

export interface Web {
  /** At most `limit` hits, best first. Throws WebError. */
  search(organization: string, query: string, limit: number, signal: AbortSignal): Promise<WebHit[]>;
  /** The text of a page or a file. Addresses that are not public are refused. Throws WebError. */
  read(organization: string, url: string, signal: AbortSignal): Promise<WebPage>;
}

/** The memory of one download, taken from its organization's share. */
export interface DownloadMemory {
  /** Counts bytes that have arrived. Throws a WebError if there is no room. */
  take(bytes: number): void;
  /** Releases all counted bytes. */
  release(): void;
}
/** Opens the memory of a new download. An organization's downloads in a process share one limit. */
export type OpenDownloadMemory = (organization: string) => DownloadMemory;
