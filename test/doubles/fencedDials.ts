import net from "node:net";
import tls from "node:tls";
import { vi } from "vitest";

type Connect = (options: net.TcpNetConnectOpts) => net.Socket;

/** As they were before any spy. */
const realConnect: { tcp: Connect; tls: Connect } = { tcp: net.connect, tls: tls.connect };

/**
 * Keeps undici from opening any connection but those to loopback ports that were served, even where the code under test
 * has a hole: the others fail after their name was looked up. Answers with a growing list of the addresses dialled,
 * until vi.restoreAllMocks.
 */
export function fenceDials(served: { has(port: number): boolean }): string[] {
  const dialled: string[] = [];
  const fence =
    (dial: Connect): Connect =>
    (options) => {
      const { host = "localhost", port, lookup } = options;
      if ((host === "127.0.0.1" || host === "localhost") && served.has(Number(port))) {
        dialled.push("127.0.0.1");
        return dial(options);
      }
      const socket = new net.Socket();
      const arrive = (error: Error | null, addresses: string[]) => {
        dialled.push(...addresses);
        socket.destroy(error ?? new Error(`${host} is not dialled in a test`));
      };
      if (net.isIP(host) > 0 || !lookup) process.nextTick(arrive, null, [host]);
      else
        lookup(host, { all: true }, (error, found) =>
          arrive(error, error ? [] : [found].flat().map((one) => (typeof one === "string" ? one : one.address))),
        );
      return socket;
    };
  vi.spyOn(net, "connect").mockImplementation(fence(realConnect.tcp) as typeof net.connect);
  vi.spyOn(tls, "connect").mockImplementation(fence(realConnect.tls) as typeof tls.connect);
  return dialled;
}
