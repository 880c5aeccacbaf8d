import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { RecordedEvent } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { different, lost, type Finding } from "./finding.ts";
import { openBlob, type Stores } from "./openBlob.ts";
import { valuesIn } from "./values.ts";

/** A blob named by an event, and the expected hash of its bytes; no hash for a stored prompt. */
interface NamedBlob {
  blob: string;
  thing: string;
  sha256: string | undefined;
  /** The key that opens it, if it is not the thing's own. */
  wrapped_key?: string;
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Events after which no personal data of their stream may be left. */
export const ERASING: ReadonlySet<string> = new Set([
  "ThreadDeleted",
  "FileDeleted",
  "DocumentDeleted",
  "ExtractionDeleted",
  "ExtractionExpired",
  "RunForgotten",
  "MessageDelivered",
]);
const READ = new Set(["DocumentRead", "ExtractionCompleted"]);
const SENT = new Set(["DocumentUploaded", "DocumentReplaced", "ExtractionRequested"]);

function namedIn(event: RecordedEvent<any>): NamedBlob[] {
  const { type, stream, data, personal } = event;
  if (stream.startsWith("run-"))
    return valuesIn(event).flatMap((value) =>
      "blob" in value ? [{ blob: value.blob, thing: stream, sha256: undefined }] : [],
    );
  if (type === "DefinitionCreated" || type === "DefinitionSaved")
    return [{ blob: data.blob, thing: stream, sha256: undefined }];
  if (READ.has(type))
    return [data.text, data.passages].flatMap((blob) => (blob ? [{ blob, thing: stream, sha256: undefined }] : []));
  if (data.frames) return [{ blob: data.frames, thing: streamName("turn", data.turn_id), sha256: undefined }];
  if (!personal) return [];
  if (type === "ToolFinished" && personal.output.blob)
    return [{ blob: personal.output.blob, thing: streamName("turn", data.turn_id), sha256: undefined }];
  if (SENT.has(type)) return [{ blob: data.blob, thing: stream, sha256: personal.sha256 }];
  if (type === "FileUploaded")
    return [{ blob: data.blob, thing: streamName("file", data.file_id), sha256: personal.sha256 }];
  if (type !== "TurnStarted") return [];
  const thing = streamName("turn", data.turn_id);
  const { input } = personal;
  if (input.prompt_blob) return [{ blob: input.prompt_blob, thing, sha256: undefined }];
  return input.prompt.messages.flatMap((message: any) =>
    message.attachments.map((file: any) => ({ blob: file.blob, thing, sha256: file.sha256, ...file.sealed_by })),
  );
}

async function checkBlob(stores: Stores, named: NamedBlob): Promise<Finding[]> {
  const bytes = await openBlob(stores, named).catch(() => Buffer.alloc(0));
  if (!bytes) return [lost("I12", named.thing, `its blob ${named.blob} is gone`)];
  return named.sha256 === undefined || sha256(bytes) === named.sha256
    ? []
    : [different("I12", named.thing, `its blob ${named.blob} was altered`)];
}

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** I12: every blob that an event names exists with its bytes. Also counts files that no event names, and files of erased things. */
export async function checkBlobs(
  stores: Stores,
  events: RecordedEvent[],
): Promise<{ findings: Finding[]; orphans: number; remains: string[] }> {
  const erased = new Set(events.filter(({ type }) => ERASING.has(type)).map(({ stream }) => stream));
  const unused = new Set(events.flatMap(({ data }: RecordedEvent<any>) => data.unused ?? []));
  const named = events
    .filter(({ stream }) => !erased.has(stream))
    .flatMap(namedIn)
    .filter(({ blob }) => !unused.has(blob));
  const findings: Finding[] = [];
  for (const one of named) findings.push(...(await checkBlob(stores, one)));
  const known = new Set(named.map(({ blob }) => blob));
  const orphans = (await filesBelow(stores.folder)).filter((key) => !known.has(key));
  return { findings, orphans: orphans.length, remains: orphans.filter((key) => erased.has(key.split("/")[1] ?? "")) };
}
