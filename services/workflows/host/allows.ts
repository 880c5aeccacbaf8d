/* What an envelope allows (events/workflow.ts). */

/** `*` stands for all. */
export const isListed = (list: string[], name: string): boolean => list.includes("*") || list.includes(name);

/** `*.` and a name stand for the name itself and what is below it. */
const isNamed = (hostname: string, allowed: string): boolean =>
  allowed.startsWith("*.")
    ? hostname === allowed.slice(2) || hostname.endsWith(allowed.slice(1))
    : hostname === allowed;

/** Whether an address is at a listed host; one that is listed without a port is open at the scheme's usual one. */
export function isEgress(egress: string[], { hostname, port, protocol }: URL): boolean {
  const usual = protocol === "https:" ? "443" : "80";
  return egress.some((allowed) => {
    const [name = "", listed = usual] = allowed.split(":");
    return (port || usual) === listed && isNamed(hostname, name);
  });
}
