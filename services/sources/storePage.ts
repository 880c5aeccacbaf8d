import { contentClaim, externalClaim } from "#events/documentClaims.ts";
import { deriveId, parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import type { PageChange } from "#events/source.ts";
import type { Blobs, Keyring, Vault } from "#events/vault.ts";
import type { Handle } from "../handle.ts";
import { readDescription } from "../knowledge/describeDocument.ts";
import { storeContent, type StorageAdmission, type AddedStorage } from "../knowledge/storeContent.ts";
import type { KnownPage, PageFile, WebFile } from "./ports.ts";

const NOT_OURS = "The collection has a document with this address as its external_id, which is not of this source.";
/** Earlier reads whose documents a source recognizes as its own. Deriving an id takes microseconds. */
const MAX_READS_BACK = 1_000;

export interface StorePageDeps {
  log: Pick<EventLog, "pages">;
  blobs: Pick<Blobs, "remove">;
  vault: Pick<Vault, "createKey" | "findKey" | "put">;
  keyring: Pick<Keyring, "keyedHash">;
  handle: Handle;
  worker: string;
  /** The type and the name of a file, or why it cannot be stored. */
  describe(organization_id: string, file: WebFile): Promise<PageFile | { refusal: string }>;
  /** Checks the budget limits for the added content. */
  admit(organization_id: string, added: AddedStorage): Promise<StorageAdmission>;
}

export interface PageOwner {
  source_id: string;
  organization_id: string;
  collection_id: string;
  read: number;
}

type StoreOutcome = Pick<PageChange, "result" | "document_id" | "content_claim" | "etag" | "last_modified" | "error">;
const failed = (error: string): StoreOutcome => ({ result: "failed", error });

/** The id of a document that a read of the source creates for a page. */
const documentOf = ({ source_id }: PageOwner, url: string, read: number): string =>
  deriveId("source-page", source_id, url, String(read));

/** Whether an earlier read created this document. A pause may have ended that read before it recorded the page. */
function isOfEarlierRead(owner: PageOwner, url: string, document_id: string): boolean {
  const first = Math.max(1, owner.read - MAX_READS_BACK);
  for (let read = owner.read - 1; read >= first; read--) if (documentOf(owner, url, read) === document_id) return true;
  return false;
}

/**
 * Stores a page as a document, or as the next version of one. The id of a new document derives from the read, so that an attempt
 * repeated after a crash finds what was stored. Throws Unavailable.
 */
export async function storePage(
  deps: StorePageDeps,
  owner: PageOwner,
  { url, known, found }: { url: string; known: KnownPage | undefined; found: WebFile },
): Promise<StoreOutcome> {
  const file = await deps.describe(owner.organization_id, found);
  if ("refusal" in file) return failed(file.refusal);
  const content_claim = contentClaim(deps.keyring, owner.collection_id, file.sha256, url);
  const marks = { etag: found.etag, last_modified: found.last_modified };
  if (known?.content_claim === content_claim) return { result: "same", ...marks };
  const existing = known?.document_id ?? undefined;
  const wrapped = existing === undefined ? undefined : await deps.vault.findKey(streamName("document", existing));
  // a document that was deleted by hand returns when its content changes
  const document_id = wrapped === undefined ? documentOf(owner, url, owner.read) : existing!;
  const stored = await storePageContent(deps, owner, { document_id, url, file, content_claim });
  if ("error" in stored) return failed(stored.error);
  return { result: existing === undefined ? "new" : "changed", ...stored, content_claim, ...marks };
}

interface Content {
  document_id: string;
  url: string;
  file: PageFile;
  content_claim: string;
}

/** Creates the document or replaces its content. Resolves with the document that has it now, or with the reason if none has. */
async function storePageContent(
  deps: StorePageDeps,
  owner: PageOwner,
  content: Content,
): Promise<{ document_id: string } | { error: string }> {
  const { document_id, url, file, content_claim } = content;
  const { organization_id } = owner;
  const stored = await storeContent(
    { ...deps, admit: (added) => deps.admit(organization_id, added) },
    {
      document_id,
      organization_id,
      request_id: deps.worker,
      bytes: file.bytes,
      mime_type: file.mime_type,
      sha256: file.sha256,
      original: "file",
      content_claim,
    },
    {
      created: () => newDetails(deps, owner, content),
      replaced: () => keptDetails(deps, streamName("document", document_id), file),
    },
  );
  if ("refused" in stored) return { error: stored.refused };
  const { rejection } = stored;
  if (!rejection) return { document_id };
  if (rejection.held_by === undefined) return { error: rejection.message };
  const holder = parseStreamName(rejection.held_by).id;
  return isOfEarlierRead(owner, url, holder)
    ? storePageContent(deps, owner, { ...content, document_id: holder })
    : { error: NOT_OURS };
}

function newDetails({ keyring }: StorePageDeps, { collection_id }: PageOwner, { url, file }: Content) {
  const external_claim = externalClaim(keyring, collection_id, url);
  return { collection_id, source: "connector", external_id: url, external_claim, name: file.name, tags: [] };
}

/** Keeps what people have changed about the document. */
async function keptDetails({ log }: StorePageDeps, stream: string, { name }: PageFile) {
  const described = await readDescription(log, stream);
  return { name: described?.name ?? name, tags: described?.tags ?? [] };
}
