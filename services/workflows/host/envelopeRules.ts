/* Rules of a workflow's envelope (events/workflow.ts). */

/** `*` allows every name. */
export const isListed = (list: string[], name: string): boolean => list.includes("*") || list.includes(name);

/** `*.example.com` allows `example.com` and all its subdomains. */
const matchesHost = (hostname: string, allowed: string): boolean =>
  allowed.startsWith("*.")
    ? hostname === allowed.slice(2) || hostname.endsWith(allowed.slice(1))
    : hostname === allowed;

/** Whether the list allows requests to an address. An entry without a port allows the default port of the scheme. */
export function isEgressAllowed(egress: string[], { hostname, port, protocol }: URL): boolean {
  const defaultPort = protocol === "https:" ? "443" : "80";
  return egress.some((allowed) => {
    const [name = "", allowedPort = defaultPort] = allowed.split(":");
    return (port || defaultPort) === allowedPort && matchesHost(hostname, name);
  });
}
