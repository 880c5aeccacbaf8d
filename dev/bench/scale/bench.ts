import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedServers } from "../../../infra/embedded/index.ts";
import { withDatabase } from "../../../test/template.ts";
import { openPool } from "../../../infra/postgres/pool.ts";
import { startNatsCluster } from "../../../test/natsCluster.ts";
import { startProvider } from "../chat/contenders.ts";
import { dataFolder } from "../tools/dataFolder.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { cpuTimeMs } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { median, percentile, toSignificant } from "../tools/stats.ts";
import { deploy, type Deployment, type Environment, type Layout, type Role } from "./layouts.ts";
import { chat, type LoadMeasurements, writes } from "./load.ts";

const ROUNDS = 3;
const SECONDS = 3;
/**
 * Warm-up requests per process that runs services. Before its code is compiled, a process takes up to four times as long per
 * request, and each of seven processes gets only some of the requests.
 */
const WARM_UP_REQUESTS = 1_500;
const WARM_UP_SECONDS = 2;
const SCALED: Layout["processes"] = ["http", "http", "services", "services", "services", "projections", "projections"];
const KINDS = {
  "chat, 32 connections": (deployed, seconds) => chat(deployed, 32, seconds),
  "writes, 16 connections": (deployed, seconds) => writes(deployed, 16, seconds),
} satisfies Record<string, (deployed: Deployment, seconds: number) => Promise<LoadMeasurements>>;
type Kind = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** The processes whose processor time is reported. */
const COMPONENTS = ["service", "PostgreSQL", "NATS"] as const;
type Component = (typeof COMPONENTS)[number];

interface LayoutRow {
  layout: string;
  kind: Kind;
  /** One figure for each round. */
  perSecond: number[];
  /** Milliseconds of every request of all rounds. */
  durations: number[];
  /** Milliseconds of processor time for a request, one figure for each round. */
  cpuMs: Record<Component, number[]>;
}

/** MiB of each measured process. */
type Memory = Record<Role, number[]>;

/** The servers that all layouts share. */
interface Servers {
  environment: Environment;
  nats_url: string;
  clusterUrl: string;
  pool: ReturnType<typeof openPool>;
  /** Process ids of a component on one NATS server, or on three. */
  pids(component: "PostgreSQL" | "NATS", replicas: number): number[];
}

/** The same service as one process and as seven, on one NATS server and on three. */
export const benchScale = async (): Promise<Report> => {
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    return await untilInterrupted(async () => measure(await startServers(cleanups)));
  } finally {
    progress("stopping");
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
};

const startServers = async (cleanups: (() => Promise<unknown>)[]): Promise<Servers> => {
  progress("starting servers");
  const folder = await dataFolder();
  cleanups.push(folder.remove);
  const services = await startEmbeddedServers({ DATA_DIR: folder.path }, progress);
  cleanups.push(services.stop);
  const cluster = await startNatsCluster(join(folder.path, "cluster"));
  cleanups.push(cluster.stop);
  const provider = await startProvider();
  cleanups.push(provider.stop);
  const pool = openPool(services.database_url, { max: 1, name: "bench" });
  cleanups.push(() => pool.end());
  const readPid = (server: string): number =>
    (JSON.parse(readFileSync(join(folder.path, "run", `${server}.pid`), "utf8")) as { pid: number }).pid;
  return {
    environment: { ...services, provider: provider.target.origin, folder: folder.path },
    nats_url: services.nats_url,
    clusterUrl: cluster.url,
    pool,
    pids(component, replicas) {
      if (component === "PostgreSQL") return [readPid("postgres")];
      return replicas > 1 ? cluster.nodes.map((node) => node.pid()!) : [readPid("nats")];
    },
  };
};

const measure = async (servers: Servers): Promise<Report> => {
  const { nats_url, clusterUrl } = servers;
  const layouts: Layout[] = [
    { name: "one process, NATS on one server", processes: ["all"], nats_url, replicas: 1 },
    { name: "seven processes, NATS on one server", processes: SCALED, nats_url, replicas: 1 },
    { name: "one process, NATS on three servers", processes: ["all"], nats_url: clusterUrl, replicas: 3 },
    { name: "seven processes, NATS on three servers", processes: SCALED, nats_url: clusterUrl, replicas: 3 },
  ];
  const rows = layouts.flatMap(({ name: layout }) =>
    KIND_NAMES.map((kind): LayoutRow => {
      return { layout, kind, perSecond: [], durations: [], cpuMs: { service: [], PostgreSQL: [], NATS: [] } };
    }),
  );
  const memory: Memory = { all: [], http: [], services: [], projections: [] };
  for (let round = 0; round < ROUNDS; round++) {
    // Every second round runs in the opposite order, so that no layout is always the last.
    const order = round % 2 === 0 ? [...layouts.entries()] : [...layouts.entries()].reverse();
    for (const [n, layout] of order) {
      progress(`round ${round + 1} of ${ROUNDS}: ${layout.name}`);
      const ownRows = rows.filter((row) => row.layout === layout.name);
      await measureLayout(servers, layout, `scale_${round}_${n}`, ownRows, memory);
    }
  }
  return report(layouts, rows, memory);
};

/** Deploys a layout on an empty database, and adds its figures to the rows and its memory to the samples. */
const measureLayout = async (
  { environment, pool, pids }: Servers,
  layout: Layout,
  id: string,
  rows: LayoutRow[],
  memory: Memory,
): Promise<void> => {
  await pool.query(`create database ${id}`);
  const database_url = withDatabase(environment.database_url, id);
  const deployed = await deploy(layout, { ...environment, database_url }, id);
  try {
    await warmUp(deployed, layout);
    const servicePids = deployed.children.map(({ child }) => child.pid);
    const cpuTimes = () =>
      COMPONENTS.map((component) =>
        cpuTimeMs(component === "service" ? servicePids : pids(component, layout.replicas)),
      );
    for (const row of rows) {
      const before = cpuTimes();
      const { perSecond, durations } = await KINDS[row.kind](deployed, SECONDS);
      const after = cpuTimes();
      row.perSecond.push(perSecond);
      row.durations.push(...durations);
      for (const [n, component] of COMPONENTS.entries())
        row.cpuMs[component].push((after[n]! - before[n]!) / durations.length);
    }
    for (const { role, child } of deployed.children) {
      child.assertAlive();
      const mib = child.memory();
      if (mib !== null) memory[role].push(mib);
    }
  } finally {
    await deployed.stop();
  }
};

const warmUp = async (deployed: Deployment, { processes }: Layout): Promise<void> => {
  const requests = WARM_UP_REQUESTS * Math.max(1, processes.filter((role) => role === "services").length);
  for (let done = 0; done < requests; ) done += (await chat(deployed, 32, WARM_UP_SECONDS)).durations.length;
  await writes(deployed, 16, WARM_UP_SECONDS);
};

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

const medianCpuMs = ({ cpuMs }: LayoutRow): number[] => COMPONENTS.map((component) => median(cpuMs[component]));

const report = (layouts: Layout[], rows: LayoutRow[], memory: Memory): Report => {
  const find = (n: number, kind: Kind) => rows.find((row) => row.layout === layouts[n]!.name && row.kind === kind)!;
  /** Throughput relative to the first layout: the median of the ratios of each round. */
  const throughputRatio = (n: number, kind: Kind) =>
    toSignificant(median(find(n, kind).perSecond.map((value, round) => value / find(0, kind).perSecond[round]!)));
  /** Processor time of a request relative to the first layout. */
  const cpuRatio = (n: number, kind: Kind) =>
    toSignificant(sum(medianCpuMs(find(n, kind))) / sum(medianCpuMs(find(0, kind))));
  const ratios = (kind: Kind) => ({
    throughput_of_the_first: [1, 2, 3].map((n) => throughputRatio(n, kind)),
    processor_time_of_the_first: [1, 2, 3].map((n) => cpuRatio(n, kind)),
  });
  return {
    bench: "scale",
    tables: [
      {
        title:
          "The same service in four layouts (milliseconds; the last four columns are processor time for a request; every answer checked)",
        head: ["", "", "per second", "p50", "p99", ...COMPONENTS, "together"],
        rows: rows
          .toSorted((a, b) => a.kind.localeCompare(b.kind))
          .map((row) => [
            row.kind,
            row.layout,
            median(row.perSecond),
            median(row.durations),
            percentile(row.durations, 0.99),
            ...medianCpuMs(row),
            sum(medianCpuMs(row)),
          ]),
      },
      {
        title: "Memory of a process after the load (MiB)",
        head: ["", "median"],
        rows: Object.entries(memory).map(([role, mib]) => [role, mib.length > 0 ? Math.round(median(mib)) : null]),
      },
    ],
    verdicts: [],
    figures: Object.fromEntries(KIND_NAMES.map((kind) => [kind, ratios(kind)])),
  };
};
