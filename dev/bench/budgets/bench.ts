import { setTimeout as sleep } from "node:timers/promises";
import type { Effort } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { startService } from "../tools/service.ts";
import { median } from "../tools/stats.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import type { Target } from "../chat/askQuestion.ts";
import { startProvider } from "../chat/contenders.ts";
import { load } from "../chat/load.ts";

const CONNECTIONS = 32;
const PAIRS: Record<Effort, number> = { full: 10, quick: 5 };
const SECONDS = 2;
/** After it every turn knows of a change of the budgets. */
const KNOWN_AFTER_MS = 1_500;

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
const SUBJECTS = ["organization", "each-user"];

type Service = Awaited<ReturnType<typeof startService>>;

/** Changes of an owner over HTTP. */
async function openOwner({ credentials: { base_url, admin } }: Service) {
  const api = `${new URL(base_url).origin}/api`;
  const request = async (method: string, path: string, body?: object, token?: string) => {
    const answer = await fetch(`${api}${path}`, {
      method,
      headers: { ...(body && { "content-type": "application/json" }), ...(token && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const { token } = (await (await request("POST", "/auth/login", admin)).json()) as { token: string };
  return {
    setPrice: () => request("PUT", "/prices/openai/mock", { prices: [{ input: "0.15", output: "0.6" }] }, token),
    async setBudgets(isOn: boolean): Promise<void> {
      for (const subject of SUBJECTS)
        await (isOn
          ? request("PUT", `/budgets/${subject}`, LIMITS, token)
          : request("DELETE", `/budgets/${subject}`, undefined, token).catch(() => {}));
      await sleep(KNOWN_AFTER_MS);
    },
  };
}

/** Processor time of a buffered turn of all processes of the service, without budgets and with all of them, in pairs. */
export const benchBudgets = async (effort: Effort): Promise<Report> => {
  progress("starting");
  const provider = await startProvider();
  const service = await startService({ OPENAI_BASE_URL: `${provider.target.origin}/v1`, OPENAI_API_KEY: "mock" });
  const target: Target = {
    name: "service",
    origin: new URL(service.credentials.base_url).origin,
    path: "/api/openai/v1/chat/completions",
    headers: { authorization: `Bearer ${service.credentials.api_key}` },
    model: "openai/mock",
  };
  const measureTurn = async (seconds: number): Promise<number> => {
    const measure = () => load(target, { connections: CONNECTIONS, stream: false, seconds });
    const { result, cpuMs } = await measureCpu([service.child.pid], measure);
    service.child.assertAlive();
    return cpuMs / result.answers.length;
  };
  const measure = async (): Promise<Report> => {
    const owner = await openOwner(service);
    await owner.setPrice();
    await measureTurn(SECONDS);
    const pairs: { without: number; with: number }[] = [];
    for (let n = 0; n < PAIRS[effort]; n++) {
      progress(`pair ${n + 1} of ${PAIRS[effort]}`);
      const measured = new Map<boolean, number>();
      for (const isOn of n % 2 === 0 ? [false, true] : [true, false]) {
        await owner.setBudgets(isOn);
        measured.set(isOn, await measureTurn(SECONDS));
      }
      pairs.push({ without: measured.get(false)!, with: measured.get(true)! });
    }
    return report(pairs);
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all([service.stop(), provider.stop()]);
  }
};

const report = (pairs: { without: number; with: number }[]): Report => ({
  bench: "budgets",
  tables: [
    {
      title: `Processor time of a buffered turn of all processes, ${CONNECTIONS} connections (milliseconds)`,
      head: ["pair", "without budgets", "with budgets", "ratio"],
      rows: pairs.map((pair, n) => [n + 1, pair.without, pair.with, pair.with / pair.without]),
    },
  ],
  verdicts: [
    {
      name: "processor_with_budgets",
      value: median(pairs.map((pair) => pair.with / pair.without)),
      floor: 1.25,
      aim: 1.03,
      better: "less",
    },
  ],
  figures: {},
});
