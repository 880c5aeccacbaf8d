import type { FoundPassage, PassageId } from "#projections/passages/engine.ts";
import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { encodeDocuments } from "./documentBodies.ts";
import { metadataMarks, readerMark, RESTRICTED_MARK, tagMark, typeMark } from "./marks.ts";

/** A passage in the index. `org`, `coll`, `doc`, `gen`, `tags`, `marks` and `created` are filtered, `title`, `text` and `lead` searched. */
export interface IndexDocument {
  pk: string;
  org: string;
  coll: string;
  doc: string;
  gen: number;
  tags: string[];
  marks: string[];
  /** Milliseconds since 1970. */
  created: number;
  title: string;
  text: string;
  lead: string;
  page: number | null;
  section: string | null;
  /** Where the text begins in the Markdown of its document. */
  start: number;
}

/**
 * A document that every index gets when it is created. An index without it was lost, emptied, or created implicitly by an upload.
 * No organization has this id, so no search finds it.
 */
export const MARKER_ID = "marker";
export const MARKER_DOCUMENT: Pick<IndexDocument, "pk" | "org"> = { pk: MARKER_ID, org: MARKER_ID };

export const FOUND_FIELDS = ["pk", "title", "text", "lead", "page", "section", "start"] as const;
export type FoundDocument = Omit<Pick<IndexDocument, (typeof FOUND_FIELDS)[number]>, "start"> & {
  /** Absent in documents that an earlier version indexed. */
  start?: number;
};

/** Meilisearch allows letters, digits, - and _ in a primary key. */
export const primaryKey = ({ document_id, generation, seq }: PassageId): string =>
  `${document_id}_${generation}_${seq}`;

export const passageId = (pk: string): PassageId => {
  const [document_id = "", generation, seq] = pk.split("_");
  return { document_id, generation: Number(generation), seq: Number(seq) };
};

/** The passages of a document share their metadata object, so its marks are computed only once. */
const marksByMetadata = new WeakMap<object, string[]>();

const marksOf = ({ mime_type, metadata, readers }: IndexedPassage): string[] => {
  const known = marksByMetadata.get(metadata) ?? metadataMarks(metadata);
  marksByMetadata.set(metadata, known);
  const restriction = readers === null ? [] : [RESTRICTED_MARK, ...readers.map(readerMark)];
  return [typeMark(mime_type), ...known, ...restriction];
};

/** A passage as the index stores it. `created`: epoch milliseconds. */
export const toDocument = (passage: IndexedPassage): IndexDocument => ({
  pk: primaryKey(passage),
  org: passage.organization_id,
  coll: passage.collection_id,
  doc: passage.document_id,
  gen: passage.generation,
  tags: passage.tags.map(tagMark),
  marks: marksOf(passage),
  created: passage.created_at.getTime(),
  title: passage.section === null ? passage.name : `${passage.name} ${passage.section}`,
  text: passage.text,
  lead: passage.lead,
  page: passage.page,
  section: passage.section,
  start: passage.start,
});

export const toFound = ({ pk, ...fields }: FoundDocument): FoundPassage => ({ ...passageId(pk), ...fields });

/** The server accepts 100 MB, but a body is encoded in one piece: this many bytes take about a millisecond. */
const MAX_BODY_BYTES = 2_000_000;
/** Passages of a few KB each that are encoded before other work may run. */
const BATCH_SIZE = 200;

export const encodeBodies = (passages: IndexedPassage[]): AsyncGenerator<Buffer> =>
  encodeDocuments(passages, toDocument, { weigh: () => 1, max_weight: BATCH_SIZE, max_bytes: MAX_BODY_BYTES });
