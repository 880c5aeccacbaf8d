import type { ServerResponse } from "node:http";
import { sendJson, startLoopback, type ReceivedRequest } from "./loopback.ts";
import { textVector } from "./textVectors.ts";

/** What an endpoint does with a request instead of answering it as it should. */
export type Misbehaviour = (response: ServerResponse, request: ReceivedRequest) => void;

export const DIMENSIONS = 256;

const embeddings = ({ body }: ReceivedRequest) => ({
  object: "list",
  model: body.model,
  data: body.input.map((text: string, index: number) => ({
    object: "embedding",
    index,
    embedding: textVector(text, DIMENSIONS),
  })),
  usage: { prompt_tokens: 10 * body.input.length, total_tokens: 10 * body.input.length },
});

/** Shorter texts are more relevant. */
const ranking = ({ body }: ReceivedRequest) => ({
  results: body.documents
    .map((text: string, index: number) => ({ index, relevance_score: 1 / text.length }))
    .toSorted((a: any, b: any) => b.relevance_score - a.relevance_score),
});

/** Endpoints for embeddings and for reranking, in one server. */
export async function startSearchEndpoints() {
  let misbehave: Misbehaviour | undefined;
  const server = await startLoopback((request, response) => {
    if (misbehave) return misbehave(response, request);
    sendJson(response, 200, request.path.endsWith("/rerank") ? ranking(request) : embeddings(request));
  });
  return {
    url: `${server.origin}/v1`,
    requests: server.requests,
    /** The texts that were sent for embedding, one array per request. */
    embedded: (): string[][] =>
      server.requests.filter(({ path }) => path.endsWith("/embeddings")).map(({ body }) => body.input),
    /** From now on; undefined: it works. */
    misbehave: (next: Misbehaviour | undefined): void => void (misbehave = next),
    close: server.close,
  };
}
export type SearchEndpoints = Awaited<ReturnType<typeof startSearchEndpoints>>;
