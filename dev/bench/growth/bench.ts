import { runningAddresses } from "../../../infra/embedded/addresses.ts";
import type { Target } from "../chat/askQuestion.ts";
import { load } from "../chat/load.ts";
import { startProvider } from "../chat/contenders.ts";
import { measureGrowingThread } from "../chat/threads.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import type { Effort } from "../tools/effort.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { type Service, startService } from "../tools/service.ts";
import { medianRatio } from "../tools/stats.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { measureRepublishedFeed } from "./feed.ts";
import { measureOrganizations } from "./organizations.ts";
import { measureReadModels } from "./readModels.ts";
import { measureStreams } from "./streams.ts";

/** Sizes for `--scale 1`. */
const SIZES = { organizations: 500, turns: 20_000, streams: 400 };
const ROUNDS = 3;
const SECONDS = 3;
/** Long enough to publish the feed again while turns run. */
const GROWING_SECONDS = 15;

/** Work that must not become slower as its amount grows. Each row is the ratio to the same work when there was little of it (docs/benchmarks.md). */
export const benchGrowth = async (_: Effort, scale: number): Promise<Report> => {
  const provider = await startProvider();
  const services: Service[] = [];
  const measure = async (): Promise<Report> => {
    const readModels = await measureReadModels(SIZES.turns * scale);
    progress("starting this service");
    const { origin } = new URL(provider.target.origin);
    const service = await startService({
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_API_KEY: "mock",
      PRIVATE_PROVIDER_HOSTS: "127.0.0.1",
    });
    services.push(service);
    return report(scale, [
      verdict("read_models_last_quarter_of_second", readModels),
      ...(await measureService(service, provider.target, scale)),
    ]);
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all(services.map(({ stop }) => stop()));
    await provider.stop();
  }
};

/** Floor and aim by name of the row. All values must stay small, except the throughput of organizations. */
const LIMITS = {
  read_models_last_quarter_of_second: { floor: 2, aim: 1.1 },
  processor_of_streams_of_own_provider: { floor: 1.6, aim: 1.1 },
  turn_500_of_a_thread_of_its_first: { floor: 6, aim: 1.5 },
  first_words_of_many_streams_of_few: { floor: 2, aim: 1 },
  throughput_of_many_organizations_of_one: { floor: 0.6, aim: 0.95, better: "more" },
  turn_while_feed_is_published_again: { floor: 4, aim: 1.5 },
  processor_of_turn_in_grown_log: { floor: 1.5, aim: 1.05 },
} satisfies Record<string, { floor: number; aim: number; better?: Verdict["better"] }>;

const verdict = (name: keyof typeof LIMITS, value: number): Verdict => ({
  name,
  value,
  better: "less",
  ...LIMITS[name],
});

const measureService = async (service: Service, direct: Target, scale: number): Promise<Verdict[]> => {
  const addresses = runningAddresses(service.dataDir);
  if (!addresses) throw new Error("the service has not written its addresses");
  const { base_url, api_key } = service.credentials;
  const target: Target = {
    name: "service",
    origin: new URL(base_url).origin,
    path: "/api/openai/v1/chat/completions",
    headers: { authorization: `Bearer ${api_key}` },
    model: "openai/mock",
  };
  await load(target, { connections: 32, stream: false, seconds: GROWING_SECONDS / 3 });
  const fresh = await turnCpu(service, target);
  const verdicts = [
    verdict("processor_of_streams_of_own_provider", await measureOwnProvider(service, target, direct.origin)),
    verdict("first_words_of_many_streams_of_few", await measureStreams(target, SIZES.streams * scale)),
    verdict("turn_500_of_a_thread_of_its_first", await measureThread(target, direct)),
    verdict(
      "throughput_of_many_organizations_of_one",
      await measureOrganizations(service, addresses.database_url, target, SIZES.organizations * scale),
    ),
  ];
  await load(target, { connections: 32, stream: false, seconds: GROWING_SECONDS * scale });
  const grown = await turnCpu(service, target);
  verdicts.push(verdict("processor_of_turn_in_grown_log", medianRatio(grown, fresh)));
  const republished = await measureRepublishedFeed(target, addresses.nats_url);
  if (republished !== undefined) verdicts.push(verdict("turn_while_feed_is_published_again", republished));
  return verdicts;
};

/** Milliseconds of processor time per turn, one figure per round. */
const turnCpu = async ({ child }: Service, target: Target, rounds = ROUNDS, stream = false): Promise<number[]> => {
  const ms: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { result, cpuMs } = await measureCpu([child.pid], () =>
      load(target, { connections: 32, stream, seconds: SECONDS }),
    );
    ms.push(cpuMs / result.answers.length);
  }
  return ms;
};

/** Processor time of a stream from a tenant's own provider, whose address is checked, relative to one from the deployment's provider. */
const measureOwnProvider = async (service: Service, target: Target, origin: string): Promise<number> => {
  progress("streams of a tenant's own provider");
  const owner = await service.signIn();
  await owner("PUT", "/api/providers/own", { api_key: "mock", base_url: `${origin}/v1` }, [200]);
  const own: number[] = [];
  const deployment: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    deployment.push(...(await turnCpu(service, target, 1, true)));
    own.push(...(await turnCpu(service, { ...target, model: "own/mock" }, 1, true)));
  }
  return medianRatio(own, deployment);
};

/** The time that the 500th turn of a thread adds to the provider's, relative to that of the first. */
const measureThread = async (target: Target, direct: Target): Promise<number> => {
  const costs = await measureGrowingThread(target, direct);
  const [first, last] = [costs.at(0)!, costs.at(-1)!];
  return (last.service - last.direct) / (first.service - first.direct);
};

const report = (scale: number, verdicts: Verdict[]): Report => ({
  bench: "growth",
  tables: [
    {
      title: "Sizes",
      head: ["", "this run"],
      rows: Object.entries(SIZES).map(([name, size]) => [name, size * scale]),
    },
  ],
  verdicts,
  figures: { scale },
});
