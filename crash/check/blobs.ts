import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Recorded } from "#events/envelope.ts";
import { streamOf } from "#events/ids.ts";
import { different, lost, type Finding } from "./finding.ts";
import { opened, type Stores } from "./opened.ts";
import { valuesIn } from "./values.ts";

/** A blob that an event names, and what its bytes must hash to; no hash where the prompt itself is in it. */
interface Named {
  blob: string;
  thing: string;
  sha256: string | undefined;
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const ERASING = new Set([
  "ThreadDeleted",
  "FileDeleted",
  "DocumentDeleted",
  "ExtractionDeleted",
  "ExtractionExpired",
  "RunForgotten",
]);
const READ = new Set(["DocumentRead", "ExtractionCompleted"]);
const SENT = new Set(["DocumentUploaded", "DocumentReplaced", "ExtractionRequested"]);

function namedIn(event: Recorded<any>): Named[] {
  const { type, stream, data, personal } = event;
  if (stream.startsWith("run-"))
    return valuesIn(event).flatMap((value) =>
      "blob" in value ? [{ blob: value.blob, thing: stream, sha256: undefined }] : [],
    );
  if (type === "DefinitionCreated" || type === "DefinitionSaved")
    return [{ blob: data.blob, thing: stream, sha256: undefined }];
  if (READ.has(type))
    return [data.text, data.passages].flatMap((blob) => (blob ? [{ blob, thing: stream, sha256: undefined }] : []));
  if (data.frames) return [{ blob: data.frames, thing: streamOf("turn", data.turn_id), sha256: undefined }];
  if (!personal) return [];
  if (type === "ToolFinished" && personal.output.blob)
    return [{ blob: personal.output.blob, thing: streamOf("turn", data.turn_id), sha256: undefined }];
  if (SENT.has(type)) return [{ blob: data.blob, thing: stream, sha256: personal.sha256 }];
  if (type === "FileUploaded")
    return [{ blob: data.blob, thing: streamOf("file", data.file_id), sha256: personal.sha256 }];
  if (type !== "TurnStarted") return [];
  const thing = streamOf("turn", data.turn_id);
  const { input } = personal;
  if (input.prompt_blob) return [{ blob: input.prompt_blob, thing, sha256: undefined }];
  return input.prompt.messages.flatMap((message: any) =>
    message.attachments.map((file: any) => ({ blob: file.blob, thing, sha256: file.sha256 })),
  );
}

async function checkBlob(stores: Stores, named: Named): Promise<Finding[]> {
  const bytes = await opened(stores, named).catch(() => Buffer.alloc(0));
  if (!bytes) return [lost("I12", named.thing, `its blob ${named.blob} is gone`)];
  return named.sha256 === undefined || sha256(bytes) === named.sha256
    ? []
    : [different("I12", named.thing, `its blob ${named.blob} was altered`)];
}

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** I12: every blob that an event names is there with its bytes. Also counts files that no event names, and those of things that were erased. */
export async function checkBlobs(
  stores: Stores,
  events: Recorded[],
): Promise<{ findings: Finding[]; orphans: number; remains: string[] }> {
  const erased = new Set(events.filter(({ type }) => ERASING.has(type)).map(({ stream }) => stream));
  const unused = new Set(events.flatMap(({ data }: Recorded<any>) => data.unused ?? []));
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
