import ipaddr from "ipaddr.js";

/** An address that a tenant named leads where tenants have no business. */
export class AddressRefused extends Error {
  override name = "AddressRefused";
}

/** Every IPv6 address that is routed on the internet: leaves out the IPv4-compatible ::/96, NAT64 and what is yet to come. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** True for a public unicast address; everything special, translated or unreadable is not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

/** The address in a URL's hostname, or undefined when it is a name. The URL parser has already read 0x7f.1 and its like. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}
