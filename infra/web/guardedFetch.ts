import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from "undici";
import { AddressRefused, isPublicAddress, literalAddress } from "./address.ts";
import { nextHop } from "./redirect.ts";

const MAX_REDIRECTS = 5;

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>;
const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/** `permit` is asked about every address before it is, redirects included; it throws where one may not be. */
export type GuardedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
  permit?: (url: URL) => void,
) => Promise<Response>;

/** How long an answer may take is the caller's business. HTTP/1.1: one connection is one checked address and one server. */
const UNLIMITED = { headersTimeout: 0, bodyTimeout: 0, allowH2: false } as const;

/** Connects only to the addresses that were checked: the name is resolved once per connection, here. */
const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    const check = async () => {
      const addresses = await resolve(hostname);
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        throw new AddressRefused(`${hostname} leads to an address that is not public`);
      }
      return addresses;
    };
    check().then(
      (addresses) => (options.all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family)),
      (error: Error) => done(error, []),
    );
  };

const WEB_PORTS = new Set(["80", "443"]);

function checkUrl(url: URL, port: string, { opened, webOnly }: { opened: boolean; webOnly: boolean }): void {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new AddressRefused(`${url.protocol} is not http or https`);
  if (url.username !== "" || url.password !== "")
    throw new AddressRefused("a user name or password in an address is not allowed");
  const literal = literalAddress(url.hostname);
  if (literal !== undefined && !opened && !isPublicAddress(literal))
    throw new AddressRefused(`${literal} is not a public address`);
  if (webOnly && !opened && !WEB_PORTS.has(port)) throw new AddressRefused(`${port} is not a port of the web`);
}

/**
 * A fetch for addresses that a tenant named: http and https to public addresses only, redirects (at most 5) included;
 * anything else throws an AddressRefused before a connection is opened. No proxy settings are read, no time limit is set.
 * `privateHosts` are opened by the exact name in the URL, `host` or `host:port`; to others `webOnly` opens ports 80 and 443 only.
 */
export function guardedFetch(
  { privateHosts, webOnly = false }: { privateHosts: string[]; webOnly?: boolean },
  resolve = resolveBySystem,
): GuardedFetch {
  const openedHosts = new Set(privateHosts.map((host) => host.toLowerCase()));
  const publicOnly = new Agent({ ...UNLIMITED, connect: { lookup: publicLookup(resolve) } });
  const anywhere = new Agent(UNLIMITED);

  return async (input, init = {}, permit) => {
    if (input instanceof Request) throw new TypeError("Pass the address and the options, not a Request");
    let hop = { url: new URL(input), init };
    for (let hops = 0; ; hops += 1) {
      const { hostname, port, protocol } = hop.url;
      const defaulted = port === "" ? (protocol === "https:" ? "443" : "80") : port;
      const opened = openedHosts.has(hostname) || openedHosts.has(`${hostname}:${defaulted}`);
      checkUrl(hop.url, defaulted, { opened, webOnly });
      permit?.(hop.url);
      const options = { ...hop.init, redirect: "manual", dispatcher: opened ? anywhere : publicOnly } as UndiciInit;
      const response = await undiciFetch(hop.url, options);
      const next = nextHop(hop, response);
      if (!next || init.redirect === "manual") return response;
      await response.body?.cancel();
      if (hops === MAX_REDIRECTS) throw new AddressRefused(`more than ${MAX_REDIRECTS} redirects`);
      hop = next;
    }
  };
}
