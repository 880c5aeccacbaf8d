import { createHash } from "node:crypto";
import { isUuid, streamOf } from "#events/ids.ts";
import type { Attachment, Message } from "#events/thread.ts";
import { getFile, type FileRow } from "#projections/files/query.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { MAX_ATTACHMENT_BYTES, tooLarge, type Named } from "./attachment.ts";
import type { Spoken } from "./messages.ts";

type Needs = Pick<Http, "db" | "blobs" | "keyring" | "freshRead">;

/** Where the blobs of a turn go, and the key that seals them. */
export interface TurnBlobs {
  organization_id: string;
  scope: string;
  thread_id: string;
  turn_id: string;
  /** Wrapped data key of the turn. */
  key: string;
}

interface Loaded {
  filename: string;
  mime_type: string;
  content(): Promise<Buffer>;
}

export const fileNotFound = (param: string | null): ApiError =>
  new ApiError("file_not_found", "There is no such file for this key and user.", { param });

/** A file by its id. One that is not found may have been uploaded a moment ago: then the read model is waited for. */
export async function findFile({ db, freshRead }: Needs, organization: string, scope: string, id: string) {
  const find = () => getFile(db, organization, scope, id);
  const found = await find();
  if (found || !isUuid(id)) return found;
  await freshRead(["files"], streamOf("file", id));
  return find();
}

/** The bytes of an uploaded file; undefined when they are gone. */
export async function readFile({ blobs, keyring }: Needs, file: FileRow): Promise<Buffer | undefined> {
  const sealed = await blobs.get(file.blob);
  return sealed && keyring.openLarge(streamOf("file", file.id), file.wrapped_key, sealed);
}

async function locate(http: Needs, { organization_id, scope }: TurnBlobs, named: Named): Promise<Loaded> {
  if (named.kind === "inline") {
    const { filename, mime_type, base64 } = named;
    return { filename, mime_type, content: async () => Buffer.from(base64, "base64") };
  }
  const file = await findFile(http, organization_id, scope, named.file_id);
  if (!file) throw fileNotFound(named.param);
  if (file.bytes > MAX_ATTACHMENT_BYTES) throw tooLarge(named.param);
  const { filename, mime_type } = file;
  const content = async () => {
    const bytes = await readFile(http, file);
    if (!bytes) throw fileNotFound(named.param);
    return bytes;
  };
  return { filename, mime_type, content };
}

/** Seals bytes with the turn's key and writes them; the blob's key. */
export async function putBlob({ blobs, keyring }: Needs, turn: TurnBlobs, bytes: Uint8Array): Promise<string> {
  const sealed = keyring.seal(streamOf("turn", turn.turn_id), turn.key, bytes);
  const { organization_id, thread_id, turn_id } = turn;
  return blobs.put(`${organization_id}/${streamOf("thread", thread_id)}/${streamOf("turn", turn_id)}`, sealed);
}

async function copy(http: Needs, turn: TurnBlobs, { filename, mime_type, content }: Loaded): Promise<Attachment> {
  const bytes = await content();
  const blob = await putBlob(http, turn, bytes);
  return { filename, mime_type, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"), blob };
}

/** Copies every attachment into the turn. All are found before any is written. Throws 404 `file_not_found`, 400 `attachment_too_large`. */
export async function storeMessages(http: Needs, turn: TurnBlobs, spoken: Spoken[]): Promise<Message[]> {
  const found = await Promise.all(
    spoken.map(async (message) => ({
      message,
      loaded: await Promise.all(message.files.map((named) => locate(http, turn, named))),
    })),
  );
  const messages: Message[] = [];
  for (const { message, loaded } of found) {
    const attachments: Attachment[] = [];
    // one after the other: sixteen files of 25 MiB at once would be 800 MiB with their sealed copies
    for (const file of loaded) attachments.push(await copy(http, turn, file));
    messages.push({ role: message.role, text: message.text, attachments });
  }
  return messages;
}
