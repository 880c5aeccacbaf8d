import { ReplaceDocument, UploadDocument } from "#events/document.ts";
import { newCommand, type CommandResult } from "#events/envelope.ts";
import { blobFolder, streamName } from "#events/ids.ts";
import type { Blobs, Vault } from "#events/vault.ts";
import type { Handle } from "../handle.ts";
import { retryWhileDiskFull } from "../retryWhileUnavailable.ts";

/* Stores documents that the service creates itself: pages of sources, and what steps of workflows push. */

const TIMEOUT_MS = 10_000;

export interface AddedStorage {
  bytes: number;
  documents: number;
  /** Whether the content will be read, also as the next version of a document. */
  isRead: boolean;
}
export type StorageAdmission = { refused: string } | { admitted: { settle(position: number): void; withdraw(): void } };

export interface StoreContentDeps {
  blobs: Pick<Blobs, "remove">;
  vault: Pick<Vault, "createKey" | "findKey" | "put">;
  handle: Handle;
  /** Checks the budget limits for the added content. */
  admit(added: AddedStorage): Promise<StorageAdmission>;
}

export interface DocumentContent {
  document_id: string;
  organization_id: string;
  /** The request that the commands belong to. */
  request_id: string;
  bytes: Buffer;
  mime_type: string;
  sha256: string;
  original: "file" | "text";
  content_claim: string;
  /** The project of the run whose step stores it. */
  project_id?: string;
}

/** More fields of the commands. */
interface Details {
  created(): object;
  replaced(): Promise<object> | object;
}

type StoreResult = Pick<CommandResult, "position" | "rejection"> & { isNew: boolean };

/** Creates the document or replaces its content. Returns no position if nothing changed. */
export async function storeContent(
  { blobs, vault, handle, admit }: StoreContentDeps,
  content: DocumentContent,
  details: Details,
): Promise<StoreResult | { refused: string }> {
  const { document_id, organization_id, request_id, bytes, ...stored } = content;
  const thing = streamName("document", document_id);
  const existing = await vault.findKey(thing);
  const wrapped_key = existing ?? vault.createKey(thing);
  const room = await admit({ bytes: bytes.length, documents: existing ? 0 : 1, isRead: true });
  if ("refused" in room) return room;
  const folder = blobFolder(organization_id, thing);
  const blob = await retryWhileDiskFull(() => vault.put({ thing, wrapped_key, folder }, bytes));
  const data = { document_id, size_bytes: bytes.length, blob, ...stored };
  const about = { stream: thing, organization_id, request_id, timeout_ms: TIMEOUT_MS };
  const { position, rejection } = existing
    ? await handle(newCommand(ReplaceDocument.type, { ...about, data: { ...data, ...(await details.replaced()) } }))
    : await handle(
        newCommand(UploadDocument.type, {
          ...about,
          fresh: true,
          keys: { [thing]: wrapped_key },
          data: { ...data, ...details.created() },
        }),
      );
  if (position > 0) room.admitted.settle(position);
  else room.admitted.withdraw();
  if (rejection?.retryable) throw new Error(`the document was not stored: ${rejection.message}`);
  // it has this content already, or was deleted
  if (position === 0) await blobs.remove(blob);
  return { position, isNew: !existing, ...(rejection && { rejection }) };
}
