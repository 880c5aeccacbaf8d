import type { FoundPassage, PassageId } from "#projections/passages/engine.ts";
import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { tagMark } from "./filter.ts";

/** A passage as the index keeps it. `org`, `coll`, `doc`, `gen` and `tags` are filtered by, `title`, `text` and `lead` searched. */
export interface IndexDocument {
  pk: string;
  org: string;
  coll: string;
  doc: string;
  gen: number;
  tags: string[];
  title: string;
  text: string;
  lead: string;
  page: number | null;
  section: string | null;
}

/**
 * What every index has from when it was made: one without it was lost, emptied or made by documents that came for it.
 * No organization is named so: no search can ask for it.
 */
export const MARKER = "marker";
export const marker: Pick<IndexDocument, "pk" | "org"> = { pk: MARKER, org: MARKER };

export const FOUND_FIELDS = ["pk", "title", "text", "lead", "page", "section"] as const;
export type FoundDocument = Pick<IndexDocument, (typeof FOUND_FIELDS)[number]>;

/** The name of a passage: letters, digits, - and _ are all that it may be made of. */
export const primaryKey = ({ document_id, generation, seq }: PassageId): string =>
  `${document_id}_${generation}_${seq}`;

export const passageId = (pk: string): PassageId => {
  const [document_id = "", generation, seq] = pk.split("_");
  return { document_id, generation: Number(generation), seq: Number(seq) };
};

export const toDocument = (passage: IndexedPassage): IndexDocument => ({
  pk: primaryKey(passage),
  org: passage.organization_id,
  coll: passage.collection_id,
  doc: passage.document_id,
  gen: passage.generation,
  tags: passage.tags.map(tagMark),
  title: passage.section === null ? passage.name : `${passage.name} ${passage.section}`,
  text: passage.text,
  lead: passage.lead,
  page: passage.page,
  section: passage.section,
});

export const toFound = ({ pk, ...fields }: FoundDocument): FoundPassage => ({ ...passageId(pk), ...fields });

/** Documents as NDJSON, in bodies of about this many bytes: the server takes 100 MB at a time. */
export function* bodiesOf(passages: IndexedPassage[], most = 10_000_000): Generator<Buffer> {
  let lines: Buffer[] = [];
  let bytes = 0;
  for (const passage of passages) {
    const line = Buffer.from(`${JSON.stringify(toDocument(passage))}\n`);
    if (bytes > 0 && bytes + line.length > most) {
      yield Buffer.concat(lines);
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += line.length;
  }
  if (bytes > 0) yield Buffer.concat(lines);
}
