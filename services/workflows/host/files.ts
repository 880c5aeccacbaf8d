import { createHash } from "node:crypto";
import { UploadFile } from "#events/file.ts";
import { newCommand } from "#events/envelope.ts";
import { blobFolder, deriveId, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { runOfScope, runScope } from "#events/scope.ts";
import type { Vault } from "#events/vault.ts";
import type { Handle } from "../../handle.ts";
import type { StorageAdmission, AddedStorage } from "../../knowledge/storeContent.ts";
import { retryWhileDiskFull } from "../../retryWhileUnavailable.ts";
import { MAX_FILE_BYTES, type CallInput } from "../stepInputs.ts";
import { StepFailure } from "../tick.ts";
import { invalidInput } from "./input.ts";
import { isOfOwnRuns, readCreatedRun, type CreatedRun } from "./ownRun.ts";
import type { HostCall, StepAttempt } from "./step.ts";

/* Files that steps save and read. They belong to the run and are destroyed with it. */

const TIMEOUT_MS = 10_000;

/** A file of any owner in the organization. */
export interface StoredFile {
  id: string;
  scope: string;
  filename: string;
  mime_type: string;
  bytes: number;
  blob: string;
  /** The data key of `file-<id>`, wrapped (base64). */
  wrapped_key: string;
}

export interface FileDeps {
  log: Pick<EventLog, "heads" | "readNewest">;
  vault: Pick<Vault, "createKey" | "get" | "put">;
  handle: Handle;
  files: { find(organization: string, id: string): Promise<StoredFile | undefined> };
  /** Checks the storage and budget limits for content that a step adds. */
  admitContent(
    owner: Pick<StepAttempt, "organization_id" | "project_id">,
    added: AddedStorage,
  ): Promise<StorageAdmission>;
}

/**
 * Whether the run may read a file: it was handed to the run (`handed`), or it belongs to the run, to an ancestor whose answers it
 * inherits, or to a run that it started.
 */
export async function mayReadFile(
  log: Pick<EventLog, "readNewest">,
  organization_id: string,
  run: Pick<CreatedRun, "run_id" | "parent" | "files">,
  handed: string[],
  file: Pick<StoredFile, "id" | "scope">,
): Promise<boolean> {
  if (run.files?.includes(file.id) || handed.includes(file.id)) return true;
  if (await isOfOwnRuns(log, organization_id, run, file.scope)) return true;
  const owner = runOfScope(file.scope);
  const created = owner === null ? undefined : await readCreatedRun(log, organization_id, owner);
  return created?.starter?.run_id === run.run_id;
}

/** Saves a file. All attempts of the step save the same one, because its id derives from the call. */
export async function saveFile(
  { log, vault, handle, admitContent }: FileDeps,
  { step, call }: HostCall,
  { name, text, base64, mime_type }: CallInput<"save_file">,
): Promise<{ file_id: string; name: string; mime_type: string; bytes: number }> {
  const { organization_id, run_id, key, project_id } = step;
  const bytes = base64 == null ? Buffer.from(text!) : Buffer.from(base64, "base64");
  if (bytes.length === 0) throw invalidInput("save_file: text: must not be empty");
  if (bytes.length > MAX_FILE_BYTES)
    throw invalidInput(`save_file: text: must have ${MAX_FILE_BYTES / 1024 / 1024} MiB at most`);
  const file_id = deriveId("file of a step", run_id, key, ...call);
  const type = mime_type ?? (base64 == null ? "text/plain" : "application/octet-stream");
  const saved = { file_id, name, mime_type: type, bytes: bytes.length };
  const thing = streamName("file", file_id);
  // an earlier attempt saved it
  if ((await log.heads([thing])).has(thing)) return saved;
  const room = await admitContent(step, { bytes: bytes.length, documents: 0, isRead: false });
  if ("refused" in room) throw new StepFailure("step_error", `save_file: ${room.refused}`);
  const wrapped_key = vault.createKey(thing);
  const folder = blobFolder(organization_id, thing);
  const blob = await retryWhileDiskFull(() => vault.put({ thing, wrapped_key, folder }, bytes));
  const { position, rejection } = await handle(
    newCommand(UploadFile.type, {
      stream: thing,
      organization_id,
      request_id: run_id,
      timeout_ms: TIMEOUT_MS,
      fresh: true,
      keys: { [thing]: wrapped_key },
      data: {
        file_id,
        bytes: bytes.length,
        mime_type: type,
        blob,
        scope: runScope(run_id),
        ...(project_id !== null && { project_id }),
        filename: name,
        purpose: "workflow",
        sha256: createHash("sha256").update(bytes).digest("hex"),
      },
    }),
  );
  if (position > 0) room.admitted.settle(position);
  else room.admitted.withdraw();
  if (rejection && rejection.code !== "file_exists")
    throw new StepFailure("step_error", `save_file: ${rejection.message}`);
  return saved;
}

const isText = (bytes: Buffer): boolean => Buffer.from(bytes.toString("utf8")).equals(bytes);

/** Reads a file that the run may read. Other files do not exist for it. */
export async function readFile(
  { log, vault, files }: FileDeps,
  { step, permissions }: HostCall,
  { file_id, as = "text" }: CallInput<"read_file">,
): Promise<{ file_id: string; name: string; mime_type: string; bytes: number; content: string }> {
  const { organization_id, run_id } = step;
  const row = await files.find(organization_id, file_id);
  const run = await readCreatedRun(log, organization_id, run_id);
  const isReadable = row && run && (await mayReadFile(log, organization_id, run, permissions.files, row));
  const bytes = isReadable ? await readBytes(vault, row) : undefined;
  if (!row || !bytes) throw invalidInput(`read_file: file_id: the run has no file ${file_id}.`);
  if (as !== "base64" && !isText(bytes))
    throw invalidInput(`read_file: ${row.filename} is no text: read it with as: "base64".`);
  const content = bytes.toString(as === "base64" ? "base64" : "utf8");
  return { file_id, name: row.filename, mime_type: row.mime_type, bytes: bytes.length, content };
}

async function readBytes(vault: FileDeps["vault"], row: StoredFile): Promise<Buffer | undefined> {
  const { id, wrapped_key, blob, bytes, filename } = row;
  if (bytes > MAX_FILE_BYTES)
    throw invalidInput(`read_file: ${filename} has more than ${MAX_FILE_BYTES / 1024 / 1024} MiB.`);
  return vault.get({ thing: streamName("file", id), wrapped_key }, blob);
}
