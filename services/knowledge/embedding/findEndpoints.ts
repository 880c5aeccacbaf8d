import { createHash } from "node:crypto";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { EMBEDDINGS, providerStream, RERANKING } from "#events/provider.ts";
import type { Keyring } from "#events/vault.ts";
import { provider } from "../../deciders/provider.ts";
import { readState } from "../../states.ts";
import type { EmbeddingEndpoint, SearchEndpoint } from "../searchEndpoints.ts";

export interface SearchEndpoints {
  embeddings?: EmbeddingEndpoint;
  reranking?: SearchEndpoint;
}

interface EndpointSources {
  log: Pick<EventLog, "heads" | "read">;
  keyring: Pick<Keyring, "openSecret">;
}

/** Includes the address, because the same name elsewhere may be another model. */
const spaceOf = (base_url: string, model: string, dimensions: number): string =>
  createHash("sha256")
    .update(JSON.stringify([base_url, model, dimensions]))
    .digest("hex")
    .slice(0, 16);

/** Reads an organization's endpoints from the log every time, so that a removed one stops working at once. */
export async function findSearchEndpoints(sources: EndpointSources, organization: string): Promise<SearchEndpoints> {
  const [embeddings, reranking] = [EMBEDDINGS, RERANKING].map((name) => providerStream(organization, name));
  const heads = await sources.log.heads([embeddings!, reranking!]);
  const embedder = await readEndpoint(sources, organization, EMBEDDINGS, heads.get(embeddings!));
  const reranker = await readEndpoint(sources, organization, RERANKING, heads.get(reranking!));
  const { dimensions } = embedder ?? {};
  return {
    ...(embedder &&
      dimensions !== undefined && {
        embeddings: { ...embedder, dimensions, space: spaceOf(embedder.base_url, embedder.model, dimensions) },
      }),
    ...(reranker && { reranking: reranker }),
  };
}

async function readEndpoint(
  { log, keyring }: EndpointSources,
  organization: string,
  name: string,
  head: StreamHead | undefined,
): Promise<(SearchEndpoint & { dimensions: number | undefined }) | undefined> {
  if (!head) return undefined;
  const { state } = await readState(log, head, provider);
  // an older provider may have this name and be one for answers
  if (state.status !== "configured" || !state.model || !state.base_url) return undefined;
  const { base_url, model, dimensions } = state;
  return {
    base_url,
    model,
    dimensions,
    api_key: keyring.openSecret(`provider:${organization}:${name}`, state.sealed_api_key),
  };
}
