import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { getDocumentProxy } from "unpdf";
import { UnreadableFile } from "../reader.ts";

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<Pdf["getPage"]>>;

const MAX_PAGES = 5_000;
/** Character maps that Chinese, Japanese and Korean fonts refer to without embedding. A path: pdf.js reads no file: URL. */
const CHARACTER_MAPS = join(dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json")), "cmaps", "/");

export const DAMAGED = "The PDF is damaged and cannot be read.";
const LOCKED = "The PDF is protected by a password. Upload it without one.";

/** Opens a PDF without reading a page. Throws UnreadableFile: protected, damaged, too many pages. */
export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    verbosity: 0,
    cMapUrl: CHARACTER_MAPS,
    cMapPacked: true,
    // images are never decoded, and nothing is fetched: fonts and wasm have no address
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
  if (pages >= 1 && pages <= MAX_PAGES) return pdf;
  await pdf.loadingTask.destroy();
  if (!(pages >= 1)) throw new UnreadableFile(DAMAGED);
  throw new UnreadableFile(`The PDF has ${pages} pages; at most ${MAX_PAGES} can be read.`);
}
