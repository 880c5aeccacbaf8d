import { decodeUtf8 } from "#events/decodeUtf8.ts";
import { isUuid, streamName } from "#events/ids.ts";
import { estimateTextBytes } from "#events/textSize.ts";
import { LONG_READS } from "#http/base/longReads.ts";
import { presentWarnings } from "#http/base/warningShape.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import type { Vault } from "#events/vault.ts";
import { listAllCollections, resolveCollections, type NamedCollection } from "#projections/collections/query.ts";
import { identifyReader, mayRead } from "#projections/documents/readers.ts";
import { findLastingFiles, getDocument, hasLastingFile, type DocumentRow } from "#projections/documents/query.ts";
import { SearchFailed, type SearchEngine } from "#projections/passages/engine.ts";
import type { SearchModels } from "#projections/passages/models.ts";
import { searchPassages } from "#projections/passages/search.ts";
import { tableHeader } from "#projections/passages/tableHeader.ts";
import type { Db } from "#projections/projection.ts";
import { passagesFrom } from "#services/reading/passageLines.ts";
import type { Passage } from "#services/reading/reader.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import {
  KnowledgeError,
  SearchUnavailable,
  type Knowledge,
  type KnowledgeQuery,
} from "#services/turns/tools/knowledge.ts";
import { cutWindow } from "#services/turns/tools/window.ts";

interface KnowledgeDeps {
  db: Db;
  engine: SearchEngine;
  /** Absent: searches by words only. */
  models?: SearchModels;
  vault: Pick<Vault, "get">;
  /** Public address of the service, without a trailing slash. */
  base_url: string;
}

/** Maximum collections listed in the error for an unknown collection. */
const MAX_LISTED_COLLECTIONS = 50;

/** Size in bytes from which few texts are read at the same time: even a small window needs the whole text in memory. */
const LONG_BYTES = 1024 * 1024;

/** An organization's knowledge for the tools of a turn. */
export function openKnowledge(deps: KnowledgeDeps): Knowledge {
  const { db, base_url } = deps;
  const longReads = createFairSemaphore(LONG_READS);
  // what was cited must still be there after a text or a page of a source was replaced, whose old file is not kept
  const addressOf = (id: string, isLasting: boolean, version: number | null) =>
    `${base_url}/api/v1/knowledge/documents/${id}/${isLasting ? "content" : `text?version=${version}`}`;

  return {
    async search(organization, request) {
      const { query, tags, limit } = request;
      const collections = await findCollections(db, organization, request);
      const document_ids = parseDocumentIds(request.document_ids);
      const reader = await identifyReader(db, organization, request.reader);
      const search = { query, collections, document_ids, tags, reader, limit, offset: 0 };
      const { results } = await searchPassages(deps, organization, search).catch(rethrowForModel);
      const lasting = await findLastingFiles(
        db,
        organization,
        results.map(({ document }) => document.id),
      );
      return results
        .flatMap(({ document: { id, name, collection, version, warnings }, passages }) =>
          passages.map((passage, n) => ({
            ...passage,
            document_id: id,
            name,
            collection,
            version,
            url: `${addressOf(id, lasting.has(id), version)}#${passage.page === null ? `seq=${passage.seq}` : `page=${passage.page}`}`,
            ...(n === 0 && describeWarnings(warnings)),
          })),
        )
        .toSorted((a, b) => b.score - a.score)
        .map(({ score: _, ...hit }) => hit);
    },

    async read(organization, { reader, document_id, from_seq, collections }) {
      const document = await getDocument(db, organization, document_id.toLowerCase());
      const isReadable = document && mayRead(document.readers, await identifyReader(db, organization, reader));
      if (!isReadable || (collections && !collections.includes(document.collection_id)))
        throw new KnowledgeError("There is no such document; use a document_id that search_documents returned.");
      const readWindow = async () => {
        const { markdown, passages } = await readTexts(deps, document);
        const window = cutWindow(markdown, passagesFrom(passages, from_seq));
        return window && { ...window, ...continuedTable(window.text, passagesFrom(passages, from_seq)) };
      };
      const window = await (estimateTextBytes(document) > LONG_BYTES
        ? longReads.run(organization, readWindow)
        : readWindow());
      if (!window) throw new KnowledgeError(`The document ends before from_seq ${from_seq}.`);
      const url = addressOf(document.id, hasLastingFile(document), document.live_generation);
      const { id, name, warnings } = document;
      const described = { document_id: id, name, version: document.live_generation!, ...describeWarnings(warnings) };
      return { ...described, ...window, url };
    },
  };
}

/** The header of the table whose rows a text continues. `passages`: those of the text. */
const continuedTable = (text: string, passages: Iterable<Passage>): { table_header?: string } => {
  const [first] = passages;
  const table_header = first && tableHeader({ lead: first.lead, text });
  return table_header === undefined ? {} : { table_header };
};

/** Without them, a model would take a page that was not read for one that says nothing. */
const describeWarnings = (found: ReadingWarning[]): { warnings?: string[] } => {
  const { warnings } = presentWarnings(found);
  return warnings ? { warnings: warnings.map(({ message }) => message) } : {};
};

/** Without a message, a model would tell people that nothing was found. */
function rethrowForModel(error: unknown): never {
  if (!(error instanceof SearchFailed)) throw error;
  throw new SearchUnavailable(
    "The index cannot be searched now. Say so: this does not mean that the documents contain nothing about it.",
    { cause: error },
  );
}

/** The collections to search: those that the request allows, or those of them that the model named. */
async function findCollections(db: Db, organization: string, { collections, named }: KnowledgeQuery) {
  const allowed = (found: NamedCollection[]) =>
    collections ? found.filter(({ id }) => collections.includes(id)) : found;
  if (named.length === 0) return allowed(await listAllCollections(db, organization));
  const { found, unknown } = await resolveCollections(db, organization, named);
  const within = allowed(found);
  if (unknown.length === 0 && within.length === found.length) return within;
  const slugs = allowed(await listAllCollections(db, organization)).map(({ slug }) => slug);
  throw new KnowledgeError(`collections must be among ${slugs.slice(0, MAX_LISTED_COLLECTIONS).join(", ")}.`);
}

function parseDocumentIds(sent: string[]): string[] {
  if (sent.every(isUuid)) return sent.map((id) => id.toLowerCase());
  throw new KnowledgeError("document_ids must be ids that search_documents returned.");
}

/** The text and passages of a document that search currently shows. */
async function readTexts({ vault }: KnowledgeDeps, document: DocumentRow) {
  const { id, text_blob, passages_blob, wrapped_key } = document;
  if (text_blob === null || passages_blob === null)
    throw new KnowledgeError("The document is not ready to be read; try again later.");
  const read = (blob: string) => vault.get({ thing: streamName("document", id), wrapped_key }, blob);
  const [text, passages] = await Promise.all([read(text_blob), read(passages_blob)]);
  if (!text || !passages) throw new KnowledgeError("The document has just changed; search for it again.");
  return { markdown: await decodeUtf8(text), passages };
}
