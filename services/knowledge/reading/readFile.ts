import { ScannedFile, UnreadableFile, type EncodedPassages, type FileText } from "../../reading/reader.ts";
import { RECOGNITION_LIMIT_REACHED } from "../../reading/warnings.ts";
import { retryWhileUnavailable } from "../../retryWhileUnavailable.ts";
import type { ThingBlobs } from "../../thingBlobs.ts";
import type { JobDeps, ReadingJob, ReadingSlot, RecognitionDeps } from "./job.ts";
import { chooseLanguages } from "./ocrLanguages.ts";
import { reportProgress } from "./reportProgress.ts";

const NO_TEXT = "No text was found in this file.";
/** Pages of one file that are recognized at most, which takes about 15 minutes. A warning lists the pages beyond it. */
const MAX_PAGES = 500;

/** The fields of a reading that its event records. */
export const readFields = ({
  page_count,
  chunk_count,
  characters,
  warnings,
  ocr_languages,
}: EncodedPassages & Pick<FileText, "warnings" | "ocr_languages">) => ({
  page_count,
  chunk_count,
  characters,
  ...(warnings && { warnings }),
  ...(ocr_languages && { ocr_languages }),
});

/**
 * Reads a blob, and waits while the disk cannot be used: a failure costs an attempt, and three of them fail the document. A process
 * that stops leaves the wait to another worker.
 */
export const readBlob = (blobs: ThingBlobs, key: string, { stopping }: ReadingSlot): Promise<Buffer> =>
  retryWhileUnavailable(() => blobs.get(key), stopping);

interface StoredFile {
  blobs: ThingBlobs;
  blob: string;
  mime_type: string;
  slot: ReadingSlot;
  /** The languages that text recognition looked for when it read this file before. */
  ocr_languages?: string[] | undefined;
}

/** Whose file it is, and the stream of its document or extraction. */
type Owner = Pick<ReadingJob, "organization_id" | "stream">;

/** The result of reading without text recognition: text, pages without text, or both. */
interface FirstReading {
  text?: FileText;
  scanned?: ScannedFile;
}

/** Reads the original. Its bytes are in memory only while a reader works on them. Throws UnreadableFile. */
export async function readFile(deps: JobDeps, owner: Owner, file: StoredFile): Promise<FileText> {
  const { reader, openFiles, recognition } = deps;
  const { organization_id } = owner;
  const { blobs, blob, mime_type, slot } = file;
  const first = await openFiles.run(organization_id, async (): Promise<FirstReading> => {
    try {
      return { text: await reader.read({ bytes: await readBlob(blobs, blob, slot), mime_type }, organization_id) };
    } catch (error) {
      if (error instanceof ScannedFile) return { scanned: error };
      throw error;
    }
  });
  const pages = first.scanned?.pages ?? first.text?.scanned ?? 0;
  const reading = recognition && pages > 0 ? await recognize(recognition, owner, { file, first, pages }) : first.text;
  if (!reading) throw first.scanned!;
  if (reading.chunk_count === 0) throw new UnreadableFile(NO_TEXT);
  return reading;
}

/** Reads a file again with text recognition, in its own lane. Keeps all text that was read without it. */
async function recognize(
  { reader, openFiles, budget, languages, report }: RecognitionDeps,
  { organization_id, stream }: Owner,
  { file, first, pages }: { file: StoredFile; first: FirstReading; pages: number },
): Promise<FileText> {
  const { blobs, blob, mime_type, slot } = file;
  slot.end();
  const read = async (): Promise<FileText> => {
    const ocr_languages = await chooseLanguages(languages, organization_id, file.ocr_languages);
    const granted = await budget.take(organization_id, Math.min(pages, MAX_PAGES));
    if (granted === 0 && !first.text) throw new UnreadableFile(RECOGNITION_LIMIT_REACHED);
    const progress = reportProgress((now) => report(stream, now), pages);
    let used = 0;
    try {
      const bytes = await readBlob(blobs, blob, slot);
      const task = { bytes, mime_type, recognize: granted, languages: ocr_languages };
      const found = await reader.read(task, organization_id, progress.update);
      used = found.recognized ?? 0;
      return used > 0 ? { ...found, ocr_languages } : found;
    } catch (error) {
      if (error instanceof UnreadableFile) used = granted;
      if (!(error instanceof UnreadableFile) || !first.text) throw error;
      return withoutPictures(first.text);
    } finally {
      progress.end();
      await budget.giveBack(organization_id, granted - used);
    }
  };
  return openFiles.run(organization_id, read, slot.stopping);
}

/** The text that was read before recognition failed. Reports its pages without text as unreadable pictures. */
const withoutPictures = (text: FileText): FileText => ({
  ...text,
  warnings: (text.warnings ?? []).map((warning) =>
    warning.code === "page_without_text" ? { ...warning, code: "picture_unreadable" } : warning,
  ),
});
