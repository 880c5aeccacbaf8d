/* The port to the web; infra/web implements it. */

export interface WebHit {
  url: string;
  title: string;
  /** What the search engine shows of the page. */
  snippet: string;
}

export interface WebPage {
  /** Where it was found at last. */
  url: string;
  title: string;
  /** Markdown. */
  text: string;
}

/** It could not be had; the message is for the model. */
export class WebError extends Error {
  override name: string = "WebError";
}

/** The address itself is refused, now and later. */
export class WebRefused extends WebError {
  override name = "WebRefused";
}

export interface Web {
  /** At most `limit` hits, best first. Throws WebError. */
  search(organization: string, query: string, limit: number, signal: AbortSignal): Promise<WebHit[]>;
  /** The text of a page or a file. Addresses that are not public are refused. Throws WebError. */
  read(organization: string, url: string, signal: AbortSignal): Promise<WebPage>;
}
