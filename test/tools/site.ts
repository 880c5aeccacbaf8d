import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A server on a loopback port that remembers the paths it was asked for. */
export async function openSite(listener: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}`,
    asked,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
export type Site = Awaited<ReturnType<typeof openSite>>;
