import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Effort } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { startService, type Service } from "../tools/service.ts";
import { estimateRatio, median, type Estimate } from "../tools/stats.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { ask, connect, type Target } from "../chat/askQuestion.ts";
import { startProvider } from "../chat/contenders.ts";

const CONNECTIONS = 32;
/** Rounds before the code is compiled. */
const WARM_ROUNDS = 3;
const ROUNDS: Record<Effort, number> = { full: 60, quick: 20 };
/**
 * Turns per sample, about a second: budgets are read once a second, so shorter samples would contain too many readings per turn.
 * Longer ones would see another load from other programs.
 */
const TURNS = 16 * CONNECTIONS;
/** Read models follow an answer within 20 ms. This pause assigns their work to the side that caused it. */
const SETTLE_MS = 60;

/** Every kind of limit that applies to turns; the bench reaches none of them. */
const LIMITS = {
  cost_per_day: "1000000",
  cost_per_month: "1000000",
  tokens_per_day: 1e12,
  tokens_per_month: 1e12,
  requests_per_minute: 1e9,
  tokens_per_minute: 1e12,
  concurrent_turns: 1e6,
  concurrent_streams: 1e6,
};

type Credentials = Service["credentials"];

const root = join(import.meta.dirname, "../../..");

/** Another organization of the running service. */
async function newOrganization({ dataDir }: Service): Promise<Credentials> {
  const env = { ...process.env, NODE_ENV: "production", DATA_DIR: dataDir, LOG_LEVEL: "warn" };
  const args = [join(root, "svc.mjs"), "org", "create", "Budgets", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as Credentials;
}

/** Sets the price of the model, and the limits if the organization should have any. */
async function prepare(service: Service, { admin }: Credentials, subjects: string[]): Promise<void> {
  const owner = await service.signIn(admin);
  await owner("PUT", "/api/prices/openai/mock", { prices: [{ input: "0.15", output: "0.6" }] }, [200]);
  for (const subject of subjects) await owner("PUT", `/api/budgets/${subject}`, LIMITS, [200]);
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
      const { cpuMs } = await measureCpu([pid()], async () => {
        await askAll();
        seconds = (performance.now() - start) / 1_000;
        await sleep(SETTLE_MS);
      });
      return { cpuMs: cpuMs / TURNS, perSecond: TURNS / seconds };
    },
  };
};
type Side = ReturnType<typeof newSide>;

/** Four samples within some seconds, in the order A B B A or B A A B, so that a steady drift affects both sides equally. */
interface Round {
  without: [Sample, Sample];
  limited: [Sample, Sample];
}
async function measureRound(without: Side, limited: Side, n: number): Promise<Round> {
  const [outer, inner] = n % 2 === 0 ? [without, limited] : [limited, without];
  const [first, second] = [await outer.measure(), await inner.measure()];
  const [third, fourth] = [await inner.measure(), await outer.measure()];
  return outer === without
    ? { without: [first, fourth], limited: [second, third] }
    : { without: [second, third], limited: [first, fourth] };
}

/**
 * The cost that budgets add to a buffered turn: processor time of all processes of the service, alternating between an organization
 * without budgets and one with all of them. Other programs slow both sides of a round equally.
 */
export const benchBudgets = async (effort: Effort): Promise<Report> => {
  progress("starting");
  const provider = await startProvider();
  const service = await startService({ OPENAI_BASE_URL: `${provider.target.origin}/v1`, OPENAI_API_KEY: "mock" });
  const measure = async (): Promise<Report> => {
    const others = await newOrganization(service);
    await prepare(service, service.credentials, []);
    await prepare(service, others, ["organization", "each-user"]);
    const pid = () => {
      service.child.assertAlive();
      return service.child.pid;
    };
    const without = newSide("without", targetOf(service.credentials), pid);
    const limited = newSide("limited", targetOf(others), pid);
    const rounds: Round[] = [];
    try {
      for (let n = -WARM_ROUNDS; n < ROUNDS[effort]; n++) {
        progress(`round ${n + 1} of ${ROUNDS[effort]}`);
        const round = await measureRound(without, limited, n + WARM_ROUNDS);
        if (n >= 0) rounds.push(round);
      }
    } finally {
      await Promise.all([without.close(), limited.close()]);
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

const sum = (samples: Sample[], field: keyof Sample): number =>
  samples.reduce((total, sample) => total + sample[field], 0);

function report(rounds: Round[]): Report {
  const ratios = (field: keyof Sample) =>
    rounds.map(({ without, limited }) => sum(limited, field) / sum(without, field));
  // two samples of one side differ only because of the machine
  const alone = rounds.flatMap(({ without, limited }) => [without, limited]).map(([a, b]) => b.cpuMs / a.cpuMs);
  const of = (side: keyof Round, field: keyof Sample) => median(rounds.map((round) => sum(round[side], field) / 2));
  const processor = estimateRatio(ratios("cpuMs"));
  const row = (name: string, { low, middle, high }: Estimate) => [
    name,
    ...[middle, low, high].map((one) => one.toFixed(3)),
  ];
  return {
    bench: "budgets",
    tables: [
      {
        title: `A buffered turn, ${CONNECTIONS} connections, median of ${rounds.length} rounds (A B B A)`,
        head: ["", "without budgets", "with budgets"],
        rows: [
          ["processor time of all processes (ms)", of("without", "cpuMs"), of("limited", "cpuMs")],
          ["turns a second", of("without", "perSecond"), of("limited", "perSecond")],
        ],
      },
      {
        title: "With budgets, as a ratio of without",
        head: ["", "ratio", "at least", "at most (95 %)"],
        rows: [
          row("processor time", processor),
          row("turns a second", estimateRatio(ratios("perSecond"))),
          row("processor time, the same side twice", estimateRatio(alone)),
        ],
      },
    ],
    verdicts: [{ name: "processor_with_budgets", value: processor.middle, floor: 1.25, aim: 1.03, better: "less" }],
    figures: { processor_interval: [processor.low, processor.high].map((one) => Number(one.toFixed(3))) },
  };
}
