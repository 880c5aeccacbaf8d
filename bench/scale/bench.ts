import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startServices } from "../../infra/embedded/index.ts";
import { withDatabase } from "../../test/template.ts";
import { openPool } from "../../infra/postgres/pool.ts";
import { startNatsCluster } from "../../test/natsCluster.ts";
import { startProvider } from "../chat/parties.ts";
import { dataFolder } from "../tools/folder.ts";
import { orInterrupted } from "../tools/interrupted.ts";
import { processorMs } from "../tools/processor.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { median, percentile, rounded } from "../tools/stats.ts";
import { deploy, type Deployed, type Ground, type Layout, type Role } from "./layouts.ts";
import { chat, type Measured, writes } from "./load.ts";

const ROUNDS = 3;
const SECONDS = 3;
/** Until its code is compiled a process takes up to four times as much for a request; of seven each gets a share of them only. */
const WARM_REQUESTS = 1_500;
const WARM_SECONDS = 2;
const SCALED: Layout["processes"] = ["http", "http", "services", "services", "services", "projections", "projections"];
const KINDS = {
  "chat, 32 connections": (deployed, seconds) => chat(deployed, 32, seconds),
  "writes, 16 connections": (deployed, seconds) => writes(deployed, 16, seconds),
} satisfies Record<string, (deployed: Deployed, seconds: number) => Promise<Measured>>;
type Kind = keyof typeof KINDS;

interface Row {
  layout: string;
  kind: Kind;
  /** Of each round. */
  perSecond: number[];
  took: number[];
  /** Processor milliseconds that a request took, in each round. */
  spent: Record<Spender, number[]>;
}

/** Whose processor time is told. */
const SPENDERS = ["service", "PostgreSQL", "NATS"] as const;
type Spender = (typeof SPENDERS)[number];

/** MiB of each process that was measured. */
type Memory = Record<Role, number[]>;

/** The same service as one process and scaled out, on one NATS server and on three. */
export const benchScale = async (): Promise<Report> => {
  const folder = await dataFolder();
  const left: (() => Promise<unknown>)[] = [folder.remove];
  const measure = async (): Promise<Report> => {
    progress("starting servers");
    const services = await startServices({ DATA_DIR: folder.path }, progress);
    left.push(services.stop);
    const cluster = await startNatsCluster(join(folder.path, "cluster"));
    left.push(cluster.stop);
    const provider = await startProvider();
    left.push(provider.stop);
    const pool = openPool(services.database_url, { max: 1, name: "bench" });
    left.push(() => pool.end());
    const pidOf = (service: string): number =>
      (JSON.parse(readFileSync(join(folder.path, "run", `${service}.pid`), "utf8")) as { pid: number }).pid;
    const layouts: Layout[] = [
      { name: "one process, NATS on one server", processes: ["all"], nats_url: services.nats_url, replicas: 1 },
      { name: "seven processes, NATS on one server", processes: SCALED, nats_url: services.nats_url, replicas: 1 },
      { name: "one process, NATS on three servers", processes: ["all"], nats_url: cluster.url, replicas: 3 },
      { name: "seven processes, NATS on three servers", processes: SCALED, nats_url: cluster.url, replicas: 3 },
    ];
    const rows: Row[] = layouts.flatMap(({ name }) =>
      (Object.keys(KINDS) as Kind[]).map((kind) => ({
        layout: name,
        kind,
        perSecond: [],
        took: [],
        spent: { service: [], PostgreSQL: [], NATS: [] },
      })),
    );
    const memory: Memory = { all: [], http: [], services: [], projections: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const [n, layout] of round % 2 === 0 ? [...layouts.entries()] : [...layouts.entries()].reverse()) {
        const id = `scale_${round}_${n}`;
        await pool.query(`create database ${id}`);
        const ground: Ground = {
          ...services,
          database_url: withDatabase(services.database_url, id),
          provider: provider.target.origin,
          folder: folder.path,
        };
        progress(`round ${round + 1} of ${ROUNDS}: ${layout.name}`);
        const deployed = await deploy(layout, ground, id);
        try {
          await warm(deployed, layout);
          const pids: Record<Spender, number[]> = {
            service: deployed.children.map(({ child }) => child.pid),
            PostgreSQL: [pidOf("postgres")],
            NATS: layout.replicas > 1 ? cluster.nodes.map((node) => node.pid()!) : [pidOf("nats")],
          };
          for (const kind of Object.keys(KINDS) as Kind[]) {
            const before = SPENDERS.map((spender) => processorMs(pids[spender]));
            const { perSecond, took } = await KINDS[kind](deployed, SECONDS);
            const row = rows.find((one) => one.layout === layout.name && one.kind === kind)!;
            row.perSecond.push(perSecond);
            row.took.push(...took);
            for (const [at, spender] of SPENDERS.entries())
              row.spent[spender].push(((processorMs(pids[spender]) ?? 0) - (before[at] ?? 0)) / took.length);
          }
          for (const { role, child } of deployed.children) {
            child.assertAlive();
            const mib = child.memory();
            if (mib !== null) memory[role].push(mib);
          }
        } finally {
          await deployed.stop();
        }
      }
    return report(layouts, rows, memory);
  };
  try {
    return await orInterrupted(measure);
  } finally {
    progress("stopping");
    for (const end of left.reverse()) await end();
  }
};

const warm = async (deployed: Deployed, { processes }: Layout): Promise<void> => {
  const wanted = WARM_REQUESTS * Math.max(1, processes.filter((role) => role === "services").length);
  for (let done = 0; done < wanted; ) done += (await chat(deployed, 32, WARM_SECONDS)).took.length;
  await writes(deployed, 16, WARM_SECONDS);
};

const report = (layouts: Layout[], rows: Row[], memory: Memory): Report => {
  const of = (n: number, kind: Kind) => rows.find((row) => row.layout === layouts[n]!.name && row.kind === kind)!;
  /** The median of the rounds' own ratios. */
  const ratio = (a: number, b: number, kind: Kind) =>
    rounded(median(of(a, kind).perSecond.map((value, round) => value / of(b, kind).perSecond[round]!)));
  const spentBy = ({ spent }: Row) => SPENDERS.map((spender) => median(spent[spender]));
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  /** What a request costs, of what it costs in the first layout. */
  const cost = (n: number, kind: Kind) => rounded(sum(spentBy(of(n, kind))) / sum(spentBy(of(0, kind))));
  const ratios = (kind: Kind) => ({
    throughput_of_the_first: [1, 2, 3].map((n) => ratio(n, 0, kind)),
    processor_time_of_the_first: [1, 2, 3].map((n) => cost(n, kind)),
  });
  return {
    bench: "scale",
    tables: [
      {
        title:
          "The same service in four layouts (milliseconds, the last four of processor time for a request; every answer checked)",
        head: ["", "", "per second", "p50", "p99", ...SPENDERS, "together"],
        rows: rows
          .toSorted((a, b) => a.kind.localeCompare(b.kind))
          .map((row) => [
            row.kind,
            row.layout,
            median(row.perSecond),
            median(row.took),
            percentile(row.took, 0.99),
            ...spentBy(row),
            sum(spentBy(row)),
          ]),
      },
      {
        title: "Memory of a process after the load (MiB)",
        head: ["", "median"],
        rows: Object.entries(memory).map(([role, mib]) => [role, mib.length > 0 ? Math.round(median(mib)) : null]),
      },
    ],
    verdicts: [],
    figures: Object.fromEntries((Object.keys(KINDS) as Kind[]).map((kind) => [kind, ratios(kind)])),
  };
};
