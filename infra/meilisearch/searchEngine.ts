import { SearchFailed, type EngineQuery, type SearchEngine } from "#projections/passages/engine.ts";
import { FOUND_FIELDS, MARKER_ID, passageId, primaryKey, toFound, type FoundDocument } from "./document.ts";
import { filterWithin, hasMark } from "./filter.ts";
import { hasIndex } from "./hasIndex.ts";
import { spaceMark } from "./marks.ts";
import { MeilisearchError } from "./request.ts";
import { openServer, type ServerAddress } from "./server.ts";
import { EMBEDDER, vectorIndexOf } from "./vectors.ts";

/** Generous, because a search takes a few milliseconds. */
const PATIENCE = { timeoutMs: 4_000, retryAfterMs: 1_500 };

/** The server runs the queries of one request one after another, but several requests in parallel. */
const REQUESTS_AT_ONCE = 3;

/** Searches an index of passages. */
export const openSearchEngine = (place: ServerAddress) => {
  const server = openServer(place);
  const ask: Ask = async <T>(path: string, body: object): Promise<T> => {
    try {
      return await server.request<T>({ method: "POST", path, body, ...PATIENCE });
    } catch (error) {
      throw new SearchFailed("The search could not run.", { cause: error });
    }
  };
  const engine: SearchEngine = {
    async search(index, within, queries) {
      if (queries.length === 0) return [];
      const filter = filterWithin(within);
      const variants = queries.flatMap((query, n) =>
        localesFor(query).map((locale) => ({ n, query: { ...toMeilisearchQuery(index, filter, query), ...locale } })),
      );
      const found = await Promise.all(deal(variants, REQUESTS_AT_ONCE).map((some) => askTogether(ask, index, some)));
      return queries.map((_, at) => mergeAnswers(found.flat().flatMap(({ n, answer }) => (n === at ? [answer] : []))));
    },
    async nearest(index, within, { space, values }, limit) {
      const body = {
        vector: Array.from(values),
        hybrid: { embedder: EMBEDDER, semanticRatio: 1 },
        filter: [...filterWithin(within), hasMark([spaceMark(space)])],
        limit,
        attributesToRetrieve: ["pk"],
        showRankingScore: true,
      };
      try {
        const path = `/indexes/${vectorIndexOf(index, values.length)}/search`;
        const { hits } = await server.request<NearAnswer>({ method: "POST", path, body, ...PATIENCE });
        // the server scores vectors from 0 to 1
        return hits.map(({ pk, _rankingScore }) => ({ ...passageId(pk), nearness: 2 * _rankingScore - 1 }));
      } catch (error) {
        if (error instanceof MeilisearchError && error.code === "index_not_found") return [];
        throw new SearchFailed("The search by vectors could not run.", { cause: error });
      }
    },
    async fetch(index, within, ids) {
      if (ids.length === 0) return [];
      const { results } = await ask<{ results: FoundDocument[] }>(`/indexes/${index}/documents/fetch`, {
        ids: ids.map(primaryKey),
        filter: filterWithin(within),
        fields: FOUND_FIELDS,
        limit: ids.length,
      });
      return results.map(toFound);
    },
  };
  return { ...engine, has: (index: string) => hasIndex(server, index), close: server.close };
};

type Ask = <T>(path: string, body: object) => Promise<T>;

/** Throws SearchFailed also if the index was emptied, because it would answer that nothing is found. */
async function askTogether<T extends { query: object }>(
  ask: Ask,
  index: string,
  some: T[],
): Promise<(T & { answer: Answer })[]> {
  const marked = { indexUid: index, filter: `org = ${MARKER_ID}`, limit: 1, attributesToRetrieve: ["pk"] };
  const { results } = await ask<{ results: Answer[] }>("/multi-search", {
    queries: [...some.map(({ query }) => query), marked],
  });
  if (results.pop()?.hits.length !== 1) throw new SearchFailed(`The index ${index} was emptied.`);
  return some.map((one, at) => ({ ...one, answer: results[at]! }));
}

/** Distributes items over at most `hands` lists, in turn. */
const deal = <T>(items: T[], hands: number): T[][] =>
  Array.from({ length: Math.min(hands, items.length) }, (_, hand) => items.filter((_, at) => at % hands === hand));

interface Answer {
  hits: { pk: string }[];
  estimatedTotalHits: number;
}

interface NearAnswer {
  hits: { pk: string; _rankingScore: number }[];
}

const HAN = /\p{Script=Han}/u;
/** A query of Han characters alone would be segmented as Chinese, and Japanese texts are segmented differently, so it is searched as both. */
const localesFor = ({ words }: EngineQuery): { locales?: string[] }[] =>
  HAN.test(words) ? [{ locales: ["cmn"] }, { locales: ["jpn"] }] : [{}];

const mergeAnswers = (answers: Answer[]) => ({
  ids: [...new Set(answers.flatMap(({ hits }) => hits.map(({ pk }) => pk)))].map(passageId),
  total: Math.max(...answers.map(({ estimatedTotalHits }) => estimatedTotalHits)),
});

const MATCHING = { all: "all", rarest: "frequency" } as const;
const toMeilisearchQuery = (indexUid: string, filter: ReturnType<typeof filterWithin>, query: EngineQuery) => ({
  indexUid,
  q: query.words,
  filter,
  limit: query.limit,
  offset: query.offset ?? 0,
  matchingStrategy: MATCHING[query.matching],
  attributesToRetrieve: ["pk"],
});
