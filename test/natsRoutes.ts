import { openNetworkProxy, type NetworkProxy, type Path } from "./networkProxy.ts";

/** A proxy between two servers of a cluster, as one of them sees it. */
export interface Route {
  proxy: NetworkProxy;
  /** Whether this server dials through the proxy; otherwise the other one does. */
  dials: boolean;
}

const OPPOSITE: Record<Path, Path> = { open: "open", dropped: "dropped", deaf: "mute", mute: "deaf" };

/** How a proxy must treat a connection so that the server at this end receives nothing (`deaf`) or sends nothing (`mute`). */
export const pathAt = ({ dials }: Route, path: Path): Path => (dials ? path : OPPOSITE[path]);

/** The network between the servers of a cluster, of which `ports` are the ports for each other: a proxy for each way from one to another. */
export async function openRoutes(ports: number[]) {
  const ways: { from: number; to: number; proxy: NetworkProxy }[] = [];
  for (const [from] of ports.entries())
    for (const [to, port] of ports.entries())
      if (from !== to) ways.push({ from, to, proxy: await openNetworkProxy({ host: "127.0.0.1", port }) });
  return {
    /** The ports at which a server reaches the others. */
    portsFor: (n: number): number[] => ways.filter(({ from }) => from === n).map(({ proxy }) => proxy.port),
    /** Everything between a server and the others. */
    routesOf: (n: number): Route[] =>
      ways.filter(({ from, to }) => from === n || to === n).map(({ from, proxy }) => ({ proxy, dials: from === n })),
    close: () => ways.forEach(({ proxy }) => proxy.close()),
  };
}
export type Routes = Awaited<ReturnType<typeof openRoutes>>;
