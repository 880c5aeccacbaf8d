import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Effort } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { startService, type Service } from "../tools/service.ts";
import { percentile } from "../tools/stats.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import type { Target } from "../chat/askQuestion.ts";
import { startProvider } from "../chat/contenders.ts";
import { load } from "../chat/load.ts";

const CONNECTIONS = 32;
const PAIRS: Record<Effort, number> = { full: 60, quick: 20 };
const SECONDS = 0.5;
/** Other programs only add to what a turn takes, so the quiet moments say what it is. */
const QUIET_SHARE = 0.25;

/** Every kind of limit that a turn counts for, and none that a bench reaches. */
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

/** Sets the price of the model, and the limits where the organization shall have some. */
async function prepare(service: Service, { admin }: Credentials, subjects: string[]): Promise<void> {
  const { token } = await service.callAs("none")("POST", "/api/auth/login", admin, [200]);
  const owner = service.callAs(token);
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

/**
 * Processor time of a buffered turn of all processes of the service: of an organization without budgets, and of one with all of
 * them, in turn.
 */
export const benchBudgets = async (effort: Effort): Promise<Report> => {
  progress("starting");
  const provider = await startProvider();
  const service = await startService({ OPENAI_BASE_URL: `${provider.target.origin}/v1`, OPENAI_API_KEY: "mock" });
  const measureTurn = async (target: Target): Promise<number> => {
    const measure = () => load(target, { connections: CONNECTIONS, stream: false, seconds: SECONDS });
    const { result, cpuMs } = await measureCpu([service.child.pid], measure);
    service.child.assertAlive();
    return cpuMs / result.answers.length;
  };
  const measure = async (): Promise<Report> => {
    const limited = await newOrganization(service);
    await prepare(service, service.credentials, []);
    await prepare(service, limited, ["organization", "each-user"]);
    const contenders = [
      { target: targetOf(service.credentials), times: [] as number[] },
      { target: targetOf(limited), times: [] as number[] },
    ];
    // the first pairs warm up: their code is not compiled yet
    const [pairs, warm] = [PAIRS[effort], 3];
    for (let n = -warm; n < pairs; n++) {
      progress(`pair ${n + 1} of ${pairs}`);
      for (const { target, times } of n % 2 === 0 ? contenders : contenders.toReversed()) {
        const time = await measureTurn(target);
        if (n >= 0) times.push(time);
      }
    }
    return report(contenders[0]!.times, contenders[1]!.times);
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all([service.stop(), provider.stop()]);
  }
};

const report = (without: number[], limited: number[]): Report => {
  const at = (share: number) => [percentile(without, share), percentile(limited, share)] as const;
  const row = (name: string, share: number) => {
    const [one, other] = at(share);
    return [name, one, other, other / one];
  };
  const [quiet, quietLimited] = at(QUIET_SHARE);
  return {
    bench: "budgets",
    tables: [
      {
        title: `Processor time of a buffered turn of all processes, ${CONNECTIONS} connections (milliseconds)`,
        head: ["", "without budgets", "with budgets", "ratio"],
        rows: [row("quiet moments", QUIET_SHARE), row("median", 0.5)],
      },
    ],
    verdicts: [{ name: "processor_with_budgets", value: quietLimited / quiet, floor: 1.25, aim: 1.03, better: "less" }],
    figures: {},
  };
};
