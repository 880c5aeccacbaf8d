import { searchPassages } from "../../../projections/passages/search.ts";
import type { Effort } from "../tools/effort.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { percentile, toSignificant } from "../tools/stats.ts";
import { judgedCorpus, type JudgedSet } from "./corpus.ts";
import { ndcg } from "./ndcg.ts";
import { openLibrary, type Library, type Tenant } from "./library.ts";
import { plainBm25, rawMeilisearch, type Searcher } from "./baselines.ts";
import { otherPassages } from "./synthetic.ts";

const PASSAGES: Record<Effort, number> = { full: 80_000, quick: 8_000 };
/** Time of one of our searches relative to one raw Meilisearch query. Floors: docs/benchmarks.md. */
const OF_RAW: Record<Effort, { floor: number; aim: number }> = {
  full: { floor: 45, aim: 15 },
  quick: { floor: 40, aim: 8 },
};
const PASSAGES_PER_DOCUMENT = 20;
const ROUNDS = 3;
const LIMIT = 10;

interface RankingScore {
  set: string;
  way: string;
  ndcg: number;
}
interface SearchTimes {
  tenant: string;
  way: string;
  ms: number[];
}

/** Search in an index of several tenants: quality of the ranking and duration, compared with plain Meilisearch queries. */
export const benchSearch = async (effort: Effort): Promise<Report> => {
  progress("starting PostgreSQL, NATS and Meilisearch");
  const library = await openLibrary();
  try {
    return await untilInterrupted(() => measure(library, effort));
  } finally {
    progress("stopping");
    await library.close();
  }
};

const measure = async (library: Library, effort: Effort): Promise<Report> => {
  const others = PASSAGES[effort];
  const { works, sets } = judgedCorpus();
  const [small, large] = [await library.createTenant(), await library.createTenant()];
  const texts = await library.add(small, works);
  await fill(library, large, others);
  const raw = rawMeilisearch(library, small, { limit: LIMIT, texts });
  const rawLarge = rawMeilisearch(library, large, { limit: LIMIT, texts });
  const ours = ownSearcher(library, small);
  const passages = works.reduce((sum, { pieces }) => sum + pieces.length, 0);
  const ranked = await rank(sets, { ours, "plain BM25": plainBm25(works), "Meilisearch's default": raw.search });
  const questions = sets.flatMap((set) => set.questions.map(([question]) => question));
  const timed = [
    ...(await time(`${passages} passages of`, questions, { ours, "Meilisearch's default": raw.search })),
    ...(await time("the other passages of", questions, {
      ours: ownSearcher(library, large),
      "Meilisearch's default": rawLarge.search,
    })),
  ];
  await Promise.all([raw.close(), rawLarge.close()]);
  return report(ranked, timed, sets, others, effort);
};

/** Adds passages of another tenant, so that the index is as large as in a deployment. */
const fill = async (library: Library, tenant: Tenant, others: number): Promise<void> => {
  let pieces = [];
  let works = [];
  let added = 0;
  for (const { name, text } of otherPassages(others)) {
    pieces.push({ text, lead: "", section: null });
    if (pieces.length < PASSAGES_PER_DOCUMENT) continue;
    works.push({ name, pieces });
    pieces = [];
    added += PASSAGES_PER_DOCUMENT;
    if (added % 4_000 > 0) continue;
    progress(`indexing ${others} passages: ${added}`);
    await library.add(tenant, works);
    works = [];
  }
};

const ownSearcher =
  ({ db, engine }: Library, { organization_id, collection_id }: Tenant): Searcher =>
  async (query) => {
    const { results } = await searchPassages({ db, engine }, organization_id, {
      reader: [],
      query,
      collections: [{ id: collection_id }],
      document_ids: [],
      tags: [],
      limit: LIMIT,
      offset: 0,
    });
    return results
      .flatMap(({ passages }) => passages)
      .toSorted((a, b) => b.score - a.score)
      .map(({ content }) => content);
  };

const rank = async (sets: JudgedSet[], ways: Record<string, Searcher>): Promise<RankingScore[]> => {
  const ranked: RankingScore[] = [];
  for (const { name, questions } of sets) {
    for (const [way, search] of Object.entries(ways)) {
      progress(`ranking ${name}: ${way}`);
      let sum = 0;
      for (const judged of questions) sum += ndcg(await search(judged[0]), judged);
      ranked.push({ set: name, way, ndcg: sum / questions.length });
    }
  }
  return ranked;
};

/** Measures every way in turn, so that other load on the machine affects all of them. */
const time = async (tenant: string, questions: string[], ways: Record<string, Searcher>): Promise<SearchTimes[]> => {
  const timed = Object.keys(ways).map((way): SearchTimes => ({ tenant, way, ms: [] }));
  for (let round = 0; round <= ROUNDS; round++) {
    progress(`timing ${tenant} the index, round ${round} of ${ROUNDS}`);
    for (const question of questions)
      for (const [n, search] of Object.values(ways).entries()) {
        const start = performance.now();
        await search(question);
        // The first round warms the caches.
        if (round > 0) timed[n]!.ms.push(performance.now() - start);
      }
  }
  return timed;
};

const report = (
  ranked: RankingScore[],
  timed: SearchTimes[],
  sets: JudgedSet[],
  others: number,
  effort: Effort,
): Report => {
  const mean = (way: string): number => {
    const scores = ranked.filter((one) => one.way === way);
    return scores.reduce((sum, one) => sum + one.ndcg, 0) / scores.length;
  };
  const ways = [...new Set(ranked.map(({ way }) => way))];
  const score = (set: string, way: string): number => ranked.find((one) => one.set === set && one.way === way)!.ndcg;
  const ratios = sets.map(({ name }) => score(name, "ours") / score(name, "plain BM25"));
  const p50 = (tenant: string, ofOurs: boolean): number =>
    percentile(timed.find((one) => one.tenant === tenant && (one.way === "ours") === ofOurs)!.ms, 0.5);
  const tenants = [...new Set(timed.map(({ tenant }) => tenant))];
  const ofRaw = Math.max(...tenants.map((tenant) => p50(tenant, true) / p50(tenant, false)));
  return {
    bench: "search",
    tables: [
      {
        title: `nDCG@10 among ${others} passages of another tenant`,
        head: ["", "questions", ...ways],
        rows: sets.map(({ name, questions }) => [name, questions.length, ...ways.map((way) => score(name, way))]),
      },
      {
        title: `One search of ${LIMIT} passages with the tenant's filter (milliseconds)`,
        head: ["the tenant has", "", "p50", "p99"],
        rows: timed.map(({ tenant, way, ms }) => [
          `${tenant} the index`,
          way,
          percentile(ms, 0.5),
          percentile(ms, 0.99),
        ]),
      },
    ],
    verdicts: [
      { name: "ndcg_of_bm25", value: Math.min(...ratios), floor: 1, aim: 1.02, better: "more" },
      { name: `p50_of_one_raw_query_at_${others}_passages`, value: ofRaw, ...OF_RAW[effort], better: "less" },
    ],
    figures: {
      ndcg: Object.fromEntries(ways.map((way) => [way, toSignificant(mean(way))])),
      ms: timed.map(({ tenant, way, ms }) => ({
        tenant,
        way,
        p50: toSignificant(percentile(ms, 0.5)),
        p99: toSignificant(percentile(ms, 0.99)),
      })),
    },
  };
};
