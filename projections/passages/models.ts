import type { QueryVector } from "./engine.ts";

/* The port to an organization's own search endpoints (ADR 60). */

/** Each answers within some seconds or throws ModelUnavailable. Absent: not configured. */
export interface QueryModels {
  embed?: (query: string) => Promise<QueryVector>;
  /** Indexes of all texts, the most relevant first. */
  rerank?: (query: string, texts: string[]) => Promise<number[]>;
}

export interface SearchModels {
  /** The configured endpoints. `space`: the vector space of the model. */
  describe(organization: string): Promise<{ embeddings?: { model: string; dimensions: number; space: string } }>;
  find(organization: string): Promise<QueryModels>;
}

/** An endpoint gave no usable result. The message is for people. */
export class ModelUnavailable extends Error {
  override name = "ModelUnavailable";
}

/** What a search had to do without, and why. */
export interface Degradation {
  part: "embeddings" | "reranking";
  message: string;
}
