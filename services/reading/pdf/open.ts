import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { getDocumentProxy } from "unpdf";
import { UnreadableFile } from "../reader.ts";

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<Pdf["getPage"]>>;

const MOST_PAGES = 5_000;
/** Character maps that Chinese, Japanese and Korean fonts name and do not bring; a path, because a file: URL is not read. */
const CHARACTER_MAPS = join(dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json")), "cmaps", "/");

export const DAMAGED = "The PDF is damaged and cannot be read.";
const LOCKED = "The PDF is protected by a password. Upload it without one.";

/** No page of it was looked at yet. Throws UnreadableFile: locked, damaged, too many pages. */
export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    verbosity: 0,
    cMapUrl: CHARACTER_MAPS,
    cMapPacked: true,
    // Pictures are never decoded, and nothing is fetched: fonts and wasm have no address.
    maxImageSize: 0,
    isImageDecoderSupported: false,
    isOffscreenCanvasSupported: false,
    disableFontFace: false,
    useWasm: false,
    useWorkerFetch: false,
    enableXfa: false,
  }).catch((error: unknown) => {
    const locked = error instanceof Error && error.name === "PasswordException";
    throw new UnreadableFile(locked ? LOCKED : DAMAGED, { cause: error });
  });
  const pages = pdf.numPages;
  if (pages >= 1 && pages <= MOST_PAGES) return pdf;
  await pdf.loadingTask.destroy();
  if (!(pages >= 1)) throw new UnreadableFile(DAMAGED);
  throw new UnreadableFile(`The PDF has ${pages} pages; at most ${MOST_PAGES} can be read.`);
}
