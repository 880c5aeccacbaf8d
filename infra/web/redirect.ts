import { AddressRefused } from "./address.ts";

export interface Hop {
  url: URL;
  init: RequestInit;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are also sent to another server. Every other header may contain a key. */
const SHARED_HEADERS = new Set(["accept", "accept-language", "content-type", "content-encoding", "user-agent"]);

/** The request that a redirect asks for; undefined if the response is not a redirect. Throws an AddressRefused for https to http. */
export function nextHop({ url, init }: Hop, response: Response): Hop | undefined {
  const location = response.headers.get("location");
  if (!REDIRECTS.has(response.status) || location === null) return undefined;
  const next = URL.parse(location, url);
  if (!next) throw new AddressRefused("a redirect has an invalid address");
  if (url.protocol === "https:" && next.protocol === "http:")
    throw new AddressRefused("a redirect leads from https to http");
  const headers = new Headers(init.headers);
  if (next.origin !== url.origin)
    for (const name of Array.from(headers.keys())) if (!SHARED_HEADERS.has(name)) headers.delete(name);
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
