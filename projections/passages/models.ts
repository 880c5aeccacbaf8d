import type { QueryVector } from "./engine.ts";

/* The port to the endpoints that an organization has configured for its search (ADR 60). */

/** Each answers within some seconds, or throws a ModelUnavailable. Absent: not configured. */
export interface QueryModels {
  embed?: (query: string) => Promise<QueryVector>;
  /** The places of all texts, most relevant first. */
  rerank?: (query: string, texts: string[]) => Promise<number[]>;
}

export interface SearchModels {
  /** What is configured; `space` names the vectors that its model makes. */
  describe(organization: string): Promise<{ embeddings?: { model: string; dimensions: number; space: string } }>;
  find(organization: string): Promise<QueryModels>;
}

/** An endpoint gave nothing that can be used. The message is for people. */
export class ModelUnavailable extends Error {
  override name = "ModelUnavailable";
}

/** What a search did without, and why. */
export interface Degradation {
  part: "embeddings" | "reranking";
  message: string;
}
