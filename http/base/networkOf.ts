import { isIPv6 } from "node:net";

/** Some proxies add the port of the client, which is another one for each connection: `192.0.2.1:50000`, `[2001:db8::1]:50000`. */
const withoutPort = (address: string): string => address.replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, "$1$2");

/** The /64 network of an IPv6 address: it belongs to one customer, who may use any address in it. */
export function networkOf(forwarded: string): string {
  const address = withoutPort(forwarded);
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const { hostname } = new URL(`http://[${address.split("%")[0]!}]`);
  const [head = "", tail = ""] = hostname.slice(1, -1).split("::");
  const [before, after] = [head, tail].map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - before!.length - after!.length }, () => "0");
  return [...before!, ...zeros, ...after!].slice(0, 4).join(":");
}
