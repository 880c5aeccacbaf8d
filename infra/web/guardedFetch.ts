import type { LookupFunction } from "node:net";
import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from "undici";
import { AddressRefused, isPublicAddress, literalAddress } from "./address.ts";
import { nextHop } from "./redirect.ts";
import { createResolve, type Resolve } from "./resolveName.ts";

const MAX_REDIRECTS = 5;

/** `permit` is called before each request, including redirects. It throws if the address is not allowed. */
export type GuardedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
  permit?: (url: URL) => void | Promise<void>,
) => Promise<Response>;

/** Without timeouts, because the caller sets them. HTTP/1.1 only, so that a connection belongs to one checked address and one server. */
const AGENT_OPTIONS = { headersTimeout: 0, bodyTimeout: 0, allowH2: false } as const;

export const notPublic = (hostname: string): string => `${hostname} does not resolve to a public address`;

/** Resolves a name once per connection, and returns only addresses that it has checked. */
const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    const check = async () => {
      const addresses = await resolve(hostname);
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        throw new AddressRefused(notPublic(hostname));
      }
      return addresses;
    };
    check().then(
      (addresses) => (options.all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family)),
      (error: Error) => done(error, []),
    );
  };

const WEB_PORTS = new Set(["80", "443"]);

function checkUrl(url: URL, port: string, { isAllowed, webOnly }: { isAllowed: boolean; webOnly: boolean }): void {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new AddressRefused(`${url.protocol} is not http or https`);
  if (url.username !== "" || url.password !== "")
    throw new AddressRefused("a user name or password in an address is not allowed");
  const literal = literalAddress(url.hostname);
  if (literal !== undefined && !isAllowed && !isPublicAddress(literal))
    throw new AddressRefused(`${literal} is not a public address`);
  if (webOnly && !isAllowed && !WEB_PORTS.has(port)) throw new AddressRefused(`${port} is not a web port`);
}

/**
 * A fetch for addresses chosen by tenants. Allows http and https to public addresses, with at most 5 redirects; anything else
 * throws an AddressRefused before it connects. Reads no proxy settings and sets no timeout. `privateHosts` are allowed by the exact
 * name in the URL, `host` or `host:port`; `webOnly` restricts all others to ports 80 and 443.
 */
export function guardedFetch(
  { privateHosts, webOnly = false }: { privateHosts: string[]; webOnly?: boolean },
  resolve = createResolve(),
): GuardedFetch {
  const allowedHosts = new Set(privateHosts.map((host) => host.toLowerCase()));
  const publicOnly = new Agent({ ...AGENT_OPTIONS, connect: { lookup: publicLookup(resolve) } });
  const anywhere = new Agent(AGENT_OPTIONS);

  return async (input, init = {}, permit) => {
    if (input instanceof Request) throw new TypeError("Pass the address and the options, not a Request");
    let hop = { url: new URL(input), init };
    for (let hops = 0; ; hops += 1) {
      const { hostname, port, protocol } = hop.url;
      const usualPort = protocol === "https:" ? "443" : "80";
      const effectivePort = port === "" ? usualPort : port;
      const isAllowed = allowedHosts.has(hostname) || allowedHosts.has(`${hostname}:${effectivePort}`);
      checkUrl(hop.url, effectivePort, { isAllowed, webOnly });
      await permit?.(hop.url);
      const options = { ...hop.init, redirect: "manual", dispatcher: isAllowed ? anywhere : publicOnly } as UndiciInit;
      const response = await undiciFetch(hop.url, options);
      const next = nextHop(hop, response);
      if (!next || init.redirect === "manual") return response;
      await response.body?.cancel();
      if (hops === MAX_REDIRECTS) throw new AddressRefused(`more than ${MAX_REDIRECTS} redirects`);
      hop = next;
    }
  };
}
