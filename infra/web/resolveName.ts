import { lookup as systemLookup, Resolver } from "node:dns/promises";

/** Resolves a name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>;

/** Time for an answer, and attempts. A name server that stays silent takes about three times as long in total. */
const OPTIONS = { timeout: 2_000, tries: 2 };
const ABSENT = new Set(["ENODATA", "ENOTFOUND"]);
/** The error when no name server listens, as on a machine without a network. */
const NO_SERVER = "ECONNREFUSED";

const codeOf = (reason: unknown): string => (reason as NodeJS.ErrnoException).code ?? "";

/** All addresses of a name. Throws only without any, because some servers answer for one version of IP only. */
async function queryAll(resolver: Resolver, hostname: string): ReturnType<Resolve> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer, n) =>
    answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family: n === 0 ? 4 : 6 })) : [],
  );
  const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as Error] : []));
  if (addresses.length === 0) throw failures.find((failure) => !ABSENT.has(codeOf(failure))) ?? failures[0]!;
  return addresses;
}

/**
 * Asks the system's name servers about names that tenants chose. The system's own look-up waits on one of two threads for all
 * look-ups of the process: a few names whose servers stay silent would block it for minutes, and with it every connection to a
 * provider. It answers names without a dot, which no tenant's server knows. Other names are not looked up in the hosts file.
 */
export function createResolve(servers?: string[]): Resolve {
  const open = (): Resolver => {
    const resolver = new Resolver(OPTIONS);
    if (servers) resolver.setServers(servers);
    return resolver;
  };
  let resolver = open();
  const askSystem: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });
  return async (hostname) => {
    const name = hostname.replace(/\.$/, "");
    if (!name.includes(".") || name.endsWith(".localhost")) return askSystem(hostname);
    return queryAll(resolver, name).catch((error: unknown) => {
      // a resolver learns the system's name servers once, and the system may have others by now
      if (!ABSENT.has(codeOf(error))) resolver = open();
      if (codeOf(error) !== NO_SERVER) throw error;
      return askSystem(hostname);
    });
  };
}
