import { setTimeout as sleep } from "node:timers/promises";
import type { Addresses } from "#infra/embedded/addresses.ts";
import { openNetworkProxy, throughProxy, type NetworkProxy } from "#test/networkProxy.ts";
import { pathAt, type Route } from "#test/natsRoutes.ts";
import type { Environment } from "../environment.ts";
import { SERVERS, type ServerName, type NetworkFault } from "./surroundings.ts";

const LATENCY_MS = 2_000;
const LOST_SHARE = 0.1;
/** TCP repeats a lost packet after this time, doubled for each further repetition. */
const FIRST_REPETITION_MS = 200;

function lossyLatency(): number {
  let ms = 0;
  for (let wait = FIRST_REPETITION_MS; Math.random() < LOST_SHARE; wait *= 2) ms += wait;
  return ms;
}

const SETTINGS = { postgres: "DATABASE_URL", nats: "NATS_URL", meilisearch: "MEILI_URL" } as const;

/** A separate network between each process and each server. */
export interface Network {
  /** The server addresses for this process. */
  connect(process: string): Promise<Environment>;
  /** Disturbs the network between a process and a server. Resolves when it works again. */
  disturb(process: string, server: ServerName, way: NetworkFault, ms: number): Promise<void>;
  close(): void;
}

function begin(route: Route, way: NetworkFault): void {
  const { proxy } = route;
  if (way === "slow") proxy.delay(() => LATENCY_MS);
  else if (way === "lossy") proxy.delay(lossyLatency);
  else if (way === "cut") proxy.setCurrent("dropped");
  else if (way === "refused") {
    proxy.setFresh("refused");
    proxy.reset();
  } else proxy.setAll(pathAt(route, way));
}

/** Closes connections that lost bytes: TCP would not recover them. */
function end(proxy: NetworkProxy): void {
  proxy.delay(() => 0);
  proxy.setFresh("open");
  proxy.endLost();
}

/** Disturbs the network of a process or a server, given its `routes`. Resolves when it works again. */
export async function disturb(routes: Route[], way: NetworkFault, ms: number): Promise<void> {
  for (const route of routes) begin(route, way);
  await sleep(ms);
  for (const { proxy } of routes) end(proxy);
}

export function openNetwork({ database_url, nats_url, meili_url }: Addresses): Network {
  const urls: Record<ServerName, string> = { postgres: database_url, nats: nats_url, meilisearch: meili_url };
  const proxies = new Map<string, NetworkProxy>();
  const nameOf = (process: string, server: ServerName) => `${process} ${server}`;
  return {
    async connect(process) {
      const seen: Environment = {};
      for (const server of SERVERS) {
        const { hostname, port } = new URL(urls[server]);
        const proxy = await openNetworkProxy({ host: hostname, port: Number(port) });
        proxies.set(nameOf(process, server), proxy);
        seen[SETTINGS[server]] = throughProxy(urls[server], proxy.port);
      }
      return seen;
    },
    async disturb(process, server, way, ms) {
      await disturb([{ proxy: proxies.get(nameOf(process, server))!, dials: true }], way, ms);
    },
    close: () => proxies.forEach((proxy) => proxy.close()),
  };
}
