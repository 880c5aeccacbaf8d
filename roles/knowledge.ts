import { isUuid, streamOf } from "#events/ids.ts";
import type { Blobs, Keyring } from "#events/ports.ts";
import { allCollections, resolveCollections, type NamedCollection } from "#projections/collections/query.ts";
import { getDocument, pushedAmong, type DocumentRow } from "#projections/documents/query.ts";
import type { SearchEngine } from "#projections/passages/engine.ts";
import { searchPassages } from "#projections/passages/search.ts";
import type { Db } from "#projections/projection.ts";
import { passagesFrom } from "#services/reading/passageLines.ts";
import { KnowledgeError, type Knowledge, type KnowledgeQuery } from "#services/turns/tools/knowledge.ts";
import { windowOf } from "#services/turns/tools/window.ts";

interface KnowledgeDeps {
  db: Db;
  engine: SearchEngine;
  blobs: Pick<Blobs, "get">;
  keyring: Pick<Keyring, "openLarge">;
  /** Public address of the service, without a slash at the end. */
  base_url: string;
}

/** So many names are told to a model that named a collection that does not exist. */
const TOLD = 50;

/** An organization's knowledge as the tools of a turn see it: the read models, the passage index and the blobs. */
export function openKnowledge(deps: KnowledgeDeps): Knowledge {
  const { db, base_url } = deps;
  const addressOf = (id: string, pushed: boolean) =>
    `${base_url}/api/v1/knowledge/documents/${id}/${pushed ? "text" : "content"}`;

  return {
    async search(organization, asked) {
      const { query, tags, limit } = asked;
      const collections = await collectionsFor(db, organization, asked);
      const document_ids = idsOf(asked.document_ids);
      const wanted = { query, collections, document_ids, tags, limit, offset: 0 };
      const { results } = await searchPassages(deps, organization, wanted);
      const pushed = await pushedAmong(
        db,
        organization,
        results.map(({ document }) => document.id),
      );
      return results
        .flatMap(({ document: { id, name, collection }, passages }) =>
          passages.map((passage) => ({
            ...passage,
            document_id: id,
            name,
            collection,
            url: `${addressOf(id, pushed.has(id))}#${passage.page === null ? `seq=${passage.seq}` : `page=${passage.page}`}`,
          })),
        )
        .toSorted((a, b) => b.score - a.score)
        .map(({ score: _, ...hit }) => hit);
    },

    async read(organization, { document_id, from_seq, collections }) {
      const document = await getDocument(db, organization, document_id.toLowerCase());
      if (!document || (collections && !collections.includes(document.collection_id)))
        throw new KnowledgeError("There is no such document here; document_id is what search_documents returns.");
      const { markdown, passages } = await textOf(deps, document);
      const window = windowOf(markdown, passagesFrom(passages, from_seq));
      if (!window) throw new KnowledgeError(`The document ends before from_seq ${from_seq}.`);
      const url = addressOf(document.id, document.original === "text");
      return { document_id: document.id, name: document.name, ...window, url };
    },
  };
}

/** Where a search may look: what the request allows, and of that what the model named. */
async function collectionsFor(db: Db, organization: string, { collections, named }: KnowledgeQuery) {
  const allowed = (found: NamedCollection[]) =>
    collections ? found.filter(({ id }) => collections.includes(id)) : found;
  if (named.length === 0) return allowed(await allCollections(db, organization));
  const { found, unknown } = await resolveCollections(db, organization, named);
  const within = allowed(found);
  if (unknown.length === 0 && within.length === found.length) return within;
  const slugs = allowed(await allCollections(db, organization)).map(({ slug }) => slug);
  throw new KnowledgeError(`collections must be among ${slugs.slice(0, TOLD).join(", ")}.`);
}

function idsOf(sent: string[]): string[] {
  if (sent.every(isUuid)) return sent.map((id) => id.toLowerCase());
  throw new KnowledgeError("document_ids must be ids that search_documents returned.");
}

/** What search sees of a document at this moment. */
async function textOf({ blobs, keyring }: KnowledgeDeps, document: DocumentRow) {
  const { id, text_blob, passages_blob, wrapped_key } = document;
  if (text_blob === null || passages_blob === null)
    throw new KnowledgeError("The document is not ready to be read; try again later.");
  const [text, passages] = await Promise.all([blobs.get(text_blob), blobs.get(passages_blob)]);
  if (!text || !passages) throw new KnowledgeError("The document has just changed; search for it again.");
  const open = (sealed: Buffer) => keyring.openLarge(streamOf("document", id), wrapped_key, sealed);
  return { markdown: (await open(text)).toString(), passages: await open(passages) };
}
