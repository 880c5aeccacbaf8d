import { contentClaim, externalClaim } from "#events/documentClaims.ts";
import { deriveId, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import type { PageChange } from "#events/source.ts";
import type { Blobs, Keyring, Vault } from "#events/vault.ts";
import type { Handle } from "../handle.ts";
import { describeDocument } from "../knowledge/describeDocument.ts";
import { storeContent, type StorageAdmission, type AddedStorage } from "../knowledge/storeContent.ts";
import type { KnownPage, PageFile, WebFile } from "./ports.ts";

const NOT_OURS = "The collection has a document with this address as its external_id, which is not of this source.";

export interface StorePageDeps {
  log: Pick<EventLog, "read">;
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
  const own = deriveId("source-page", owner.source_id, url, String(owner.read));
  const wrapped = existing === undefined ? undefined : await deps.vault.findKey(streamName("document", existing));
  // a document that was deleted by hand returns when its content changes
  const document_id = wrapped === undefined ? own : existing!;
  const error = await storePageContent(deps, owner, { document_id, url, file, content_claim });
  if (error !== undefined) return failed(error);
  return { result: existing === undefined ? "new" : "changed", document_id, content_claim, ...marks };
}

interface Content {
  document_id: string;
  url: string;
  file: PageFile;
  content_claim: string;
}

/** Creates the document or replaces its content. Resolves with the reason if it could not. */
async function storePageContent(deps: StorePageDeps, owner: PageOwner, content: Content): Promise<string | undefined> {
  const { document_id, file, content_claim } = content;
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
  if ("refused" in stored) return stored.refused;
  const { rejection } = stored;
  return rejection && (rejection.held_by === undefined ? rejection.message : NOT_OURS);
}

function newDetails({ keyring }: StorePageDeps, { collection_id }: PageOwner, { url, file }: Content) {
  const external_claim = externalClaim(keyring, collection_id, url);
  return { collection_id, source: "connector", external_id: url, external_claim, name: file.name, tags: [] };
}

/** Keeps what people have changed about the document. */
async function keptDetails({ log }: StorePageDeps, stream: string, { name }: PageFile) {
  const described = describeDocument(await log.read(stream));
  return { name: described?.name ?? name, tags: described?.tags ?? [] };
}
