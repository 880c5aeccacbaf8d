import { setImmediate } from "node:timers/promises";
import { blobFolder, streamName } from "#events/ids.ts";
import { releaseBuffer } from "#events/releaseBuffer.ts";
import type { Attachment, Message } from "#events/thread.ts";
import type { FileRow } from "#projections/files/query.ts";
import type { Http } from "../base/deps.ts";
import { hashInSteps } from "../base/hashInSteps.ts";
import { requireStorage, requireThreadStorage } from "../base/storageLimits.ts";
import { attachmentTooLarge, MAX_ATTACHMENT_BYTES, type AttachmentSource } from "./attachment.ts";
import type { AttachedBytes } from "./attachedBytes.ts";
import { fileNotFound, findFile } from "./files.ts";
import { textMessage, type InputMessage } from "./turnRequest.ts";

type Needs = Pick<Http, "db" | "vault" | "waitUntilCurrent" | "settings" | "stored">;

/** Where a turn's blobs are stored, and the key that seals them. */
export interface TurnFolder {
  organization_id: string;
  scope: string;
  thread_id: string;
  turn_id: string;
  /** The turn's data key, wrapped. */
  key: string;
}
export interface TurnBlobs extends TurnFolder {
  room: Pick<AttachedBytes, "admit">;
}

type Content = Pick<Attachment, "bytes" | "sha256" | "blob" | "sealed_by">;

interface FoundAttachment {
  filename: string;
  mime_type: string;
  param: string;
  bytes: number;
  /** Equal for attachments with equal content: the hash of the bytes, or the id of the file. */
  identity: string;
  store(): Promise<Content>;
}

const turnFolder = ({ organization_id, thread_id, turn_id }: TurnFolder): string =>
  blobFolder(organization_id, streamName("thread", thread_id), streamName("turn", turn_id));

/** Seals bytes with the turn's key, stores them, and frees their memory. Returns the key of the blob. */
export async function putBlob({ vault }: Pick<Http, "vault">, turn: TurnFolder, bytes: Buffer): Promise<string> {
  const place = { thing: streamName("turn", turn.turn_id), wrapped_key: turn.key, folder: turnFolder(turn) };
  const blob = await vault.put(place, bytes);
  releaseBuffer(bytes);
  return blob;
}

async function findInline(
  http: Needs,
  turn: TurnBlobs,
  { filename, mime_type, base64, param }: Extract<AttachmentSource, { kind: "inline" }>,
): Promise<FoundAttachment> {
  const decode = () => Buffer.from(base64, "base64");
  const content = decode();
  const bytes = content.length;
  await setImmediate();
  const sha256 = await hashInSteps(content);
  const store = async (): Promise<Content> => ({ bytes, sha256, blob: await putBlob(http, turn, decode()) });
  return { filename, mime_type, param, bytes, identity: sha256, store };
}

/**
 * Adds an uploaded file to the turn without reading its bytes: the turn gets a second key of the file's blob, and the data key
 * that opens it.
 */
async function linkFile({ vault }: Needs, turn: TurnBlobs, file: FileRow, param: string): Promise<Content> {
  const { id, bytes, sha256, wrapped_key } = file;
  const blob = await vault.link(turnFolder(turn), file.blob);
  if (!blob) throw fileNotFound(param);
  return { bytes, sha256, blob, sealed_by: { thing: streamName("file", id), wrapped_key } };
}

async function findStored(
  http: Needs,
  turn: TurnBlobs,
  { param, file_id }: Extract<AttachmentSource, { kind: "stored" }>,
): Promise<FoundAttachment> {
  const file = await findFile(http, turn.organization_id, turn.scope, file_id);
  if (!file) throw fileNotFound(param);
  if (file.bytes > MAX_ATTACHMENT_BYTES) throw attachmentTooLarge(param);
  const { filename, mime_type, bytes } = file;
  return { filename, mime_type, param, bytes, identity: file.id, store: () => linkFile(http, turn, file, param) };
}

/** Finds attachments: uploaded files together, inline ones one after the other, because their bytes are decoded and hashed. */
function openFinder(http: Needs, turn: TurnBlobs): (source: AttachmentSource) => Promise<FoundAttachment> {
  let last: Promise<unknown> = Promise.resolve();
  return (source) => {
    if (source.kind === "stored") return findStored(http, turn, source);
    const found = last.then(() => findInline(http, turn, source));
    last = found;
    return found;
  };
}

/** Checks the limits of stored bytes. Throws 413 for the first attachment that no longer fits into the thread or the organization. */
async function requireRoom(http: Needs, turn: TurnBlobs, found: FoundAttachment[]): Promise<number> {
  const distinct = new Map(found.map((attachment) => [attachment.identity, attachment]));
  const bytes = [...distinct.values()].reduce((sum, attachment) => sum + attachment.bytes, 0);
  const last = found.at(-1);
  if (!last) return 0;
  await requireThreadStorage(http, turn, bytes, last.param);
  await requireStorage(http, turn.organization_id, { bytes, param: last.param });
  await turn.room.admit(bytes);
  return bytes;
}

/**
 * Stores the attachments of a turn, once all of them are found. Content that appears several times is stored once. Throws 404
 * `file_not_found`, 400 `attachment_too_large`, 413 `thread_too_large` and `storage_limit_reached`.
 */
export async function storeMessages(
  http: Needs,
  turn: TurnBlobs,
  input: InputMessage[],
): Promise<{ messages: Message[]; stored_bytes: number }> {
  const find = openFinder(http, turn);
  const found = await Promise.all(
    input.map(async ({ files, ...message }) => ({ message, files: await Promise.all(files.map(find)) })),
  );
  const stored_bytes = await requireRoom(
    http,
    turn,
    found.flatMap(({ files }) => files),
  );
  const contents = new Map<string, Content>();
  const messages: Message[] = [];
  for (const { message, files } of found) {
    const attachments: Attachment[] = [];
    // one at a time: decoded and sealed copies of sixteen files of 25 MiB would take 800 MiB
    for (const { filename, mime_type, identity, store } of files) {
      const content = contents.get(identity) ?? (await store());
      contents.set(identity, content);
      attachments.push({ filename, mime_type, ...content });
    }
    messages.push({ ...textMessage(message), attachments });
  }
  return { messages, stored_bytes };
}
