import { createHash } from "node:crypto";
import { lruCache } from "#infra/models/lruCache.ts";
import { openEmbedder } from "#infra/searchModels/embed.ts";
import { rerank } from "#infra/searchModels/rerank.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import type { QueryVector } from "#projections/passages/engine.ts";
import { ModelUnavailable, type SearchModels } from "#projections/passages/models.ts";
import { findSearchEndpoints } from "#services/knowledge/embedding/findEndpoints.ts";
import { EndpointFailed, type EmbeddingEndpoint, type SearchEndpoint } from "#services/knowledge/searchEndpoints.ts";
import { createCircuits } from "#services/turns/circuits.ts";
import type { Resources } from "./resources.ts";

/** Timeouts of search endpoints. Search by words takes some 20 ms and then answers without them. */
const [EMBED_MS, RERANK_MS] = [1_500, 2_000];
/** Maximum characters of a query that are embedded, and cached vectors of recent queries, a few KB each. */
const MAX_QUERY = 2_000;
const MAX_VECTORS = 1_000;
const IS_DOWN = "The endpoint failed several times in a row, and is asked again in a moment.";

type Needs = Pick<Resources, "settings" | "log" | "keyring" | "logger">;

/** The endpoints that searches in this process use. Every failure becomes a ModelUnavailable. */
export function openSearchModels({ settings, log, keyring, logger }: Needs): SearchModels {
  const fetch = guardedFetch({ privateHosts: settings.PRIVATE_PROVIDER_HOSTS });
  const embedder = openEmbedder(fetch, EMBED_MS);
  const vectors = lruCache<{ vector?: QueryVector }>(MAX_VECTORS);
  // an endpoint that is down must not slow down every search
  const circuits = createCircuits();

  async function ask<T>(
    part: string,
    organization: string,
    endpoint: SearchEndpoint,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify([part, organization, endpoint.base_url, endpoint.model]);
    if (circuits.state(key) !== "closed") throw new ModelUnavailable(IS_DOWN);
    const end = circuits.begin(key);
    try {
      const answer = await work();
      end("answered");
      return answer;
    } catch (error) {
      // refusing one text says nothing about the next
      end(error instanceof EndpointFailed && !error.isRefusal ? "failed" : "other");
      if (!(error instanceof EndpointFailed)) throw error;
      logger.warn({ err: error, organization, part }, "search endpoint failed, searching without it");
      throw new ModelUnavailable(error.message, { cause: error });
    }
  }

  async function embed(organization: string, endpoint: EmbeddingEndpoint, query: string): Promise<QueryVector> {
    const text = query.slice(0, MAX_QUERY).toWellFormed();
    const key = createHash("sha256")
      .update(JSON.stringify([organization, endpoint.space, text]))
      .digest("hex");
    const known = vectors(key, () => ({}));
    if (known.vector) return known.vector;
    const { vectors: found } = await ask("embeddings", organization, endpoint, () =>
      embedder.embed(endpoint, [text], new AbortController().signal),
    );
    return (known.vector = { space: endpoint.space, values: found[0]! });
  }

  return {
    describe: (organization) => findSearchEndpoints({ log, keyring }, organization),
    async find(organization) {
      const { embeddings, reranking } = await findSearchEndpoints({ log, keyring }, organization);
      const limits = () => ({ timeout_ms: RERANK_MS, signal: new AbortController().signal });
      return {
        ...(embeddings && { embed: (query: string) => embed(organization, embeddings, query) }),
        ...(reranking && {
          rerank: (query: string, texts: string[]) =>
            ask("reranking", organization, reranking, () =>
              rerank(fetch, reranking, { query: query.slice(0, MAX_QUERY).toWellFormed(), texts }, limits()),
            ),
        }),
      };
    },
  };
}
