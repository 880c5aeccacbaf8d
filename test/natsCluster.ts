import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { natsBinary } from "#infra/embedded/natsBinary.ts";
import { freePort } from "#infra/embedded/freePort.ts";
import { openRoutes } from "./natsRoutes.ts";

const runtime = fileURLToPath(new URL("../.runtime", import.meta.url));
const READY_MS = 30_000;

interface Place {
  name: string;
  port: number;
  routePort: number;
}

/** `routes`: the ports at which this server reaches the others. `advertise`: the only address of itself that it announces to them. */
const configOf = (
  { name, port, routePort }: Place,
  folder: string,
  { routes, advertise }: { routes: number[]; advertise: string },
) => `
server_name: "${name}"
host: "127.0.0.1"
port: ${port}
max_payload: 1MB
ping_interval: "1s"
ping_max: 2
jetstream { store_dir: ${JSON.stringify(join(folder, name))}, max_file_store: 10GB }
cluster {
  name: "svc"
  host: "127.0.0.1"
  port: ${routePort}
  ${advertise}
  routes: [${routes.map((one) => `"nats://127.0.0.1:${one}"`).join(", ")}]
}
`;

const greets = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = dial({ port, host: "127.0.0.1" });
    socket.once("data", () => (resolve(true), socket.destroy()));
    socket.once("error", () => resolve(false)).once("close", () => resolve(false));
  });

const AGAIN_MS = 250;

async function openNode(binary: string, place: Place, { config, keep }: { config: string; keep: boolean }) {
  let server: ChildProcess | undefined;
  let stopping = false;
  const lives = () => server !== undefined && server.exitCode === null && server.signalCode === null;
  return {
    name: place.name,
    url: `nats://127.0.0.1:${place.port}`,
    pid: () => (lives() ? server?.pid : undefined),
    async start() {
      const run = () => {
        if (stopping) return;
        server = spawn(binary, ["--config", config], { stdio: "ignore" });
        if (keep) server.once("exit", () => setTimeout(run, AGAIN_MS));
      };
      run();
      for (const until = Date.now() + READY_MS; !(await greets(place.port)); await sleep(20))
        if (Date.now() > until || !lives()) throw new Error(`${place.name} of the NATS cluster does not start`);
    },
    async stop() {
      stopping = true;
      await this.kill();
    },
    async kill() {
      if (!server || !lives()) return;
      const gone = once(server, "exit");
      server.kill("SIGKILL");
      await gone;
    },
  };
}

/**
 * A NATS cluster of three local processes below a folder, whose JetStream takes streams; `stop` ends it. With `keep`, each is
 * started again when it ends. With `proxied`, the servers reach each other through proxies.
 */
export async function startNatsCluster(folder: string, { keep = false, proxied = false } = {}) {
  const binary = await natsBinary(runtime, (line) => console.error(line));
  const places: Place[] = [];
  for (let n = 1; n <= 3; n++) places.push({ name: `nats-${n}`, port: await freePort(), routePort: await freePort() });
  const routes = proxied ? await openRoutes(places.map(({ routePort }) => routePort)) : undefined;
  // a server that learned another address of a peer would bypass the proxies
  const advertise = routes ? `advertise: "127.0.0.1:${await freePort()}"` : "";
  await mkdir(folder, { recursive: true });
  const nodes = await Promise.all(
    places.map(async (place, n) => {
      const config = join(folder, `${place.name}.conf`);
      const ways = routes?.portsFor(n) ?? places.map(({ routePort }) => routePort);
      await writeFile(config, configOf(place, folder, { routes: ways, advertise }));
      return openNode(binary, place, { config, keep });
    }),
  );
  const killAll = () => nodes.forEach((node) => void node.stop());
  process.once("exit", killAll);
  const url = nodes.map((node) => node.url).join(",");

  /** Asks JetStream through any server that lives, until it answers. */
  async function ask<T>(question: (jsm: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>): Promise<T> {
    const servers = url.split(",").map((one) => new URL(one).host);
    const nc = await connect({ servers, waitOnFirstConnect: true, timeout: 2_000 });
    try {
      const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 2_000 });
      for (const until = Date.now() + READY_MS; ; await sleep(100)) {
        try {
          return await question(jsm);
        } catch (error) {
          if (Date.now() > until) throw error;
        }
      }
    } finally {
      await nc.close();
    }
  }

  const stop = async () => {
    process.off("exit", killAll);
    await Promise.all(nodes.map((node) => node.stop()));
    routes?.close();
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await ask((jsm) => jsm.getAccountInfo());
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** All servers, as `NATS_URL` takes them. */
    url,
    nodes,
    /** The network between the servers, where it is `proxied`; servers are counted from 0. */
    routes,
    /** The server that leads a stream. */
    async leaderOf(stream: string) {
      const leader = await ask(async (jsm) => {
        const { cluster } = await jsm.streams.info(stream);
        if (!cluster?.leader) throw new Error("there is no leader now");
        return cluster.leader;
      });
      return nodes.find(({ name }) => name === leader)!;
    },
    stop,
  };
}
export type NatsCluster = Awaited<ReturnType<typeof startNatsCluster>>;
