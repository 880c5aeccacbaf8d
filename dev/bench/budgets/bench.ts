import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Effort } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { slowdown, startService, type Service } from "../tools/service.ts";
import { estimateRatio, median, type Estimate } from "../tools/stats.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { ask, connect, type Target } from "../chat/askQuestion.ts";
import { startProvider } from "../chat/contenders.ts";

const CONNECTIONS = 32;
/** Rounds before the code is compiled. */
const WARM_ROUNDS = 6;
const ROUNDS: Record<Effort, number> = { full: 105, quick: 14 };
/**
 * Turns per sample, about half a second: the sides of a round then see the same load from other programs. Each sample begins with a
 * reading of the budgets, which under load takes place once a second: so readings cost a turn of the bench rather too much.
 */
const TURNS = 12 * CONNECTIONS;
/** Read models follow an answer within 20 ms. This pause assigns their work to the side that caused it. */
const SETTLE_MS = 60;
/** It cleans up for all sides at once: half a second of work in one sample of fifty. */
const VACUUM = "autovacuum worker";
/** Measurements of a sample into which garbage collections fall; then the last one counts. */
const MAX_TRIES = 4;

const BASE = "without budgets";
/** A second organization without budgets: what it differs from the first is the error of the bench. */
const CONTROL = "without budgets, again";
const EVERY_LIMIT = "every kind of limit, organization and each user";

/** The limits of each side, by subject. The bench reaches none of them. */
const SIDES: Record<string, Record<string, object>> = {
  [BASE]: {},
  [CONTROL]: {},
  "money a month, organization": { organization: { cost_per_month: "1000000" } },
  "requests and tokens a minute, organization": {
    organization: { requests_per_minute: 1e9, tokens_per_minute: 1e12 },
  },
  [EVERY_LIMIT]: Object.fromEntries(
    ["organization", "each-user"].map((subject) => [
      subject,
      {
        cost_per_day: "1000000",
        cost_per_month: "1000000",
        tokens_per_day: 1e12,
        tokens_per_month: 1e12,
        requests_per_minute: 1e9,
        tokens_per_minute: 1e12,
        concurrent_turns: 1e6,
        concurrent_streams: 1e6,
      },
    ]),
  ),
};

type Credentials = Service["credentials"];

const root = join(import.meta.dirname, "../../..");

/** Another organization of the running service. */
async function newOrganization({ dataDir }: Service, name: string): Promise<Credentials> {
  const env = { ...process.env, NODE_ENV: "production", DATA_DIR: dataDir, LOG_LEVEL: "warn" };
  const args = [join(root, "svc.mjs"), "org", "create", name, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as Credentials;
}

/** Sets the price of the model, and the limits of the organization. */
async function prepare(service: Service, { admin }: Credentials, limits: Record<string, object>): Promise<void> {
  const owner = await service.signIn(admin);
  await owner("PUT", "/api/prices/openai/mock", { prices: [{ input: "0.15", output: "0.6" }] }, [200]);
  for (const [subject, wanted] of Object.entries(limits)) await owner("PUT", `/api/budgets/${subject}`, wanted, [200]);
}

const targetOf = ({ base_url, api_key }: Credentials): Target => ({
  name: "service",
  origin: new URL(base_url).origin,
  path: "/api/openai/v1/chat/completions",
  headers: { authorization: `Bearer ${api_key}` },
  model: "openai/mock",
});

interface Sample {
  cpuMs: number;
  perSecond: number;
}

/** Keeps connections open, because opening them is not part of a turn. Each has its own user, for the limits of each user. */
const newSide = (name: string, target: Target, pid: () => number) => {
  const clients = Array.from({ length: CONNECTIONS }, () => connect(target));
  let asked = 0;
  const askAll = () =>
    Promise.all(
      clients.map(async (client, user) => {
        for (let n = 0; n < TURNS / CONNECTIONS; n++)
          await ask(target, client, { text: `${name} #${asked++}`, stream: false, user: `user ${user}` });
      }),
    );
  return {
    close: () => Promise.all(clients.map((client) => client.close())),
    async measure(): Promise<Sample> {
      const start = performance.now();
      let seconds = 0;
      const work = async () => {
        await askAll();
        seconds = (performance.now() - start) / 1_000;
        await sleep(SETTLE_MS);
      };
      const { cpuMs } = await measureCpu([pid()], work, VACUUM);
      return { cpuMs: cpuMs / TURNS, perSecond: TURNS / seconds };
    },
  };
};
type Side = ReturnType<typeof newSide>;

/** A sample of each side, by its name. */
type Round = Map<string, Sample>;

/**
 * Measures a side, again if a full garbage collection fell into the sample. It takes as long as a hundred turns, and would fall on
 * every fourth sample, whichever side it belongs to.
 */
async function measureUndisturbed(side: Side, countCollections: () => number): Promise<Sample> {
  for (let n = 1; ; n++) {
    const before = countCollections();
    const sample = await side.measure();
    if (n === MAX_TRIES || countCollections() === before) return sample;
  }
}

/**
 * Measures the sides in turn. Each round another one begins, and every other round is in reverse order, so that a steady drift and
 * what a side leaves behind affect all equally.
 */
async function measureRound(sides: [name: string, side: Side][], n: number, countCollections: () => number) {
  const first = n % sides.length;
  const order = [...sides.slice(first), ...sides.slice(0, first)];
  const round: Round = new Map();
  for (const [name, side] of n % 2 === 0 ? order : order.toReversed())
    round.set(name, await measureUndisturbed(side, countCollections));
  return round;
}

/**
 * The cost that budgets add to a buffered turn: processor time of all processes of the service, alternating between an organization
 * without budgets and others with them. Other programs slow all sides of a round equally.
 */
export const benchBudgets = async (effort: Effort): Promise<Report> => {
  progress("starting");
  const provider = await startProvider();
  const service = await startService({
    OPENAI_BASE_URL: `${provider.target.origin}/v1`,
    OPENAI_API_KEY: "mock",
    NODE_OPTIONS: [slowdown()["NODE_OPTIONS"], `--import ${join(import.meta.dirname, "noteCollections.ts")}`].join(" "),
  });
  const pid = () => {
    service.child.assertAlive();
    return service.child.pid;
  };
  const measure = async (): Promise<Report> => {
    const sides: [string, Side][] = [];
    for (const [name, limits] of Object.entries(SIDES)) {
      const credentials = name === BASE ? service.credentials : await newOrganization(service, name);
      await prepare(service, credentials, limits);
      sides.push([name, newSide(name, targetOf(credentials), pid)]);
    }
    const rounds: Round[] = [];
    const countCollections = () => statSync(join(service.dataDir, "collections"), { throwIfNoEntry: false })?.size ?? 0;
    try {
      for (let n = -WARM_ROUNDS; n < ROUNDS[effort]; n++) {
        progress(`round ${n + 1} of ${ROUNDS[effort]}`);
        const round = await measureRound(sides, n + WARM_ROUNDS, countCollections);
        if (n >= 0) rounds.push(round);
      }
    } finally {
      await Promise.all(sides.map(([, side]) => side.close()));
    }
    return report(rounds);
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all([service.stop(), provider.stop()]);
  }
};

const format = ({ low, middle, high }: Estimate) => [middle, low, high].map((one) => one.toFixed(3));

const intervalOf = ({ low, high }: Estimate) => [low, high].map((one) => Number(one.toFixed(3)));

function report(rounds: Round[]): Report {
  /** Compared with both organizations without budgets, because a mean of two samples is more precise. */
  const ratioOf = (name: string, field: keyof Sample) =>
    estimateRatio(
      rounds.map((round) => (2 * round.get(name)![field]) / (round.get(BASE)![field] + round.get(CONTROL)![field])),
    );
  const error = estimateRatio(rounds.map((round) => round.get(CONTROL)!.cpuMs / round.get(BASE)!.cpuMs));
  const middleOf = (name: string, field: keyof Sample) => median(rounds.map((round) => round.get(name)![field]));
  const limited = Object.keys(SIDES).filter((name) => name !== BASE && name !== CONTROL);
  const [typical] = limited.map((name) => ratioOf(name, "cpuMs"));
  const every = ratioOf(EVERY_LIMIT, "cpuMs");
  return {
    bench: "budgets",
    tables: [
      {
        title: `A buffered turn, ${CONNECTIONS} connections, median of ${rounds.length} rounds`,
        head: ["", "processor time of all processes (ms)", "turns a second"],
        rows: Object.keys(SIDES).map((name) => [name, middleOf(name, "cpuMs"), middleOf(name, "perSecond")]),
      },
      {
        title: "Processor time, as a ratio of that without budgets",
        head: ["", "ratio", "at least", "at most (95 %)"],
        rows: [
          ...limited.map((name) => [name, ...format(ratioOf(name, "cpuMs"))]),
          ["the same side twice", ...format(error)],
        ],
      },
    ],
    verdicts: [
      { name: "processor_with_a_budget_of_money", value: typical!.middle, floor: 1.2, aim: 1.03, better: "less" },
      { name: "processor_with_every_limit", value: every.middle, floor: 1.25, aim: 1.03, better: "less" },
    ],
    figures: { money_interval: intervalOf(typical!), every_limit_interval: intervalOf(every) },
  };
}
