import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { toDocument, type IndexDocument } from "./document.ts";
import { encodeDocuments } from "./documentBodies.ts";
import { spaceMark } from "./marks.ts";

/*
 * Vectors are in separate indexes beside that of the words, one per number of dimensions (ADR 60): an index accepts vectors of one
 * length only, and refuses documents without one.
 */

/** The name of the vectors' embedder in such an index. */
export const EMBEDDER = "passage";

export const vectorIndexOf = (index: string, dimensions: number): string => `${index}-v${dimensions}`;
/** The index of words that a vector index belongs to. */
export const wordIndexOf = (index: string): string => index.replace(/-v\d+$/, "");

type FilteredFields = Pick<IndexDocument, "pk" | "org" | "coll" | "doc" | "gen" | "tags" | "marks" | "created">;

/** Rounding of numbers. More decimals change no order, and double the bytes sent. */
const PRECISION = 1e6;
const round = (values: Float32Array): number[] =>
  Array.from(values, (value) => Math.round(value * PRECISION) / PRECISION);

export type PassageWithVector = IndexedPassage & { vector: NonNullable<IndexedPassage["vector"]> };

const toVectorDocument = (passage: PassageWithVector): FilteredFields & { _vectors: object } => {
  const { pk, org, coll, doc, gen, tags, marks, created } = toDocument(passage);
  const { space, values } = passage.vector;
  const filtered = { pk, org, coll, doc, gen, tags, marks: [...marks, spaceMark(space)], created };
  return { ...filtered, _vectors: { [EMBEDDER]: { embeddings: round(values), regenerate: false } } };
};

/** Passages with a vector, by vector length. */
export function groupByLength(passages: IndexedPassage[]): Map<number, PassageWithVector[]> {
  const withVector = passages.filter((passage): passage is PassageWithVector => passage.vector !== undefined);
  return Map.groupBy(withVector, ({ vector }) => vector.values.length);
}

/** Numbers encoded before other work may run: about 10 ms. */
const MAX_NUMBERS = 50_000;
const MAX_BODY_BYTES = 8_000_000;

/** Encodes vectors as bodies of requests to the index, each within the limits above. */
export const encodeVectorBodies = (passages: PassageWithVector[]): AsyncGenerator<Buffer> =>
  encodeDocuments(passages, toVectorDocument, {
    weigh: ({ vector }) => vector.values.length,
    max_weight: MAX_NUMBERS,
    max_bytes: MAX_BODY_BYTES,
  });
