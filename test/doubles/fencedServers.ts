import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, vi } from "vitest";
import { fenceDials } from "./fencedDials.ts";

/**
 * Servers of one test each, in a file whose tests may connect only to them. `dialled`: the addresses to which this test opened
 * connections.
 */
export function fencedServers() {
  const servers = new Map<number, Server>();
  let dialled: string[];
  beforeEach(() => {
    dialled = fenceDials(servers);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const [port, server] of servers) {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      servers.delete(port);
    }
  });
  return {
    dialled: () => dialled,
    async serve(listener: RequestListener): Promise<{ host: string; port: number }> {
      const server = createServer(listener);
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      const { port } = server.address() as AddressInfo;
      servers.set(port, server);
      return { host: `127.0.0.1:${port}`, port };
    },
  };
}
