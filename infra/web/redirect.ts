import { AddressRefused } from "./address.ts";

export interface Hop {
  url: URL;
  init: RequestInit;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What another server may hear; keys come in headers of any name. */
const FOR_EVERYBODY = new Set(["accept", "accept-language", "content-type", "content-encoding", "user-agent"]);

/** Where a redirect leads, with what may go there; undefined when the response is none. Throws an AddressRefused for a step down from https. */
export function nextHop({ url, init }: Hop, response: Response): Hop | undefined {
  const location = response.headers.get("location");
  if (!REDIRECTS.has(response.status) || location === null) return undefined;
  const next = URL.parse(location, url);
  if (!next) throw new AddressRefused("a redirect leads to something that is no address");
  if (url.protocol === "https:" && next.protocol === "http:")
    throw new AddressRefused("a redirect leads from https to http");
  const headers = new Headers(init.headers);
  if (next.origin !== url.origin)
    for (const name of Array.from(headers.keys())) if (!FOR_EVERYBODY.has(name)) headers.delete(name);
  return {
    url: next,
    init: { ...init, headers, ...(dropsBody(response.status, init.method) && withoutBody(headers)) },
  };
}

const dropsBody = (status: number, method = "GET"): boolean =>
  status === 303 ? method !== "HEAD" : status < 303 && method.toUpperCase() === "POST";

function withoutBody(headers: Headers): RequestInit {
  for (const name of ["content-type", "content-length", "content-encoding"]) headers.delete(name);
  return { method: "GET", body: null };
}
