import ipaddr from "ipaddr.js";

/** An address chosen by a tenant is not allowed. */
export class AddressRefused extends Error {
  override name = "AddressRefused";
}

/** The IPv6 addresses that are routed on the internet; excludes the IPv4-compatible ::/96, NAT64 and unassigned ranges. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether the text is a public unicast address. Special, translated and invalid addresses are not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

/** The IP address in a URL's hostname; undefined when it is a name. The URL parser has already normalized forms like 0x7f.1. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}
