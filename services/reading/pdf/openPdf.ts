import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { getDocumentProxy } from "unpdf";
import { MAX_PIXELS } from "../pictures/limits.ts";
import { UnreadableFile } from "../reader.ts";
import { limitAnnotations } from "./annotationLimits.ts";
import { inProcessWorker } from "./inProcessWorker.ts";
import { useDirectDecompression } from "./inflate.ts";

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<Pdf["getPage"]>>;

const MAX_PAGES = 5_000;
const PACKAGE = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
/** Character maps that Chinese, Japanese and Korean fonts refer to without embedding. A path, because pdf.js reads no file: URL. */
const CHARACTER_MAPS = join(PACKAGE, "cmaps", "/");
/** Decoders of JPEG 2000, JBIG2 and fax images. */
const DECODERS = join(PACKAGE, "wasm", "/");

export const DAMAGED_PDF = "The PDF is damaged and cannot be read.";
const LOCKED = "The PDF is protected by a password. Upload it without one.";

/** Without images nothing is decoded. pdf.js shares these settings among all open files, so files are opened one after the other. */
const settingsFor = (images: boolean) =>
  images ? { maxImageSize: MAX_PIXELS, useWasm: true, wasmUrl: DECODERS } : { maxImageSize: 0, useWasm: false };

/** A module of pdf.js without types. */
const WORKER: string = "pdfjs-dist/legacy/build/pdf.worker.mjs";

/** pdf.js with its decoders of fax, JBIG2 and JPEG 2000 images, which the smaller build lacks. It takes a second to load. */
async function openWithDecoders(parameters: object): Promise<Pdf> {
  const [{ getDocument }, worker] = await Promise.all([
    import("pdfjs-dist/legacy/build/pdf.mjs"),
    import(WORKER) as Promise<object>,
  ]);
  // when opening a file, both builds look for the parsing half under this name
  const other: unknown = Reflect.get(globalThis, "pdfjsWorker");
  Object.assign(globalThis, { pdfjsWorker: worker });
  try {
    return (await getDocument(parameters).promise) as unknown as Pdf;
  } finally {
    Object.assign(globalThis, { pdfjsWorker: other });
  }
}

/**
 * Opens a PDF without reading a page. `images`: decodes the images of a page with its operators. `paths`: includes drawn paths in
 * the operators. Throws UnreadableFile: protected, damaged, too many pages.
 */
export async function openPdf(bytes: Uint8Array, { images = false, paths = true } = {}): Promise<Pdf> {
  const parameters = {
    verbosity: 0,
    cMapUrl: CHARACTER_MAPS,
    cMapPacked: true,
    // nothing is fetched: fonts have no address, and image decoders are files
    ...settingsFor(images),
    isImageDecoderSupported: false,
    isOffscreenCanvasSupported: false,
    disableFontFace: false,
    useWorkerFetch: false,
    enableXfa: false,
  };
  const data = new Uint8Array(bytes);
  useDirectDecompression();
  const opened = images
    ? openWithDecoders({ data, ...parameters })
    : getDocumentProxy(data, { ...parameters, worker: await inProcessWorker({ paths }) });
  const pdf = await opened.catch((error: unknown) => {
    const locked = error instanceof Error && error.name === "PasswordException";
    throw new UnreadableFile(locked ? LOCKED : DAMAGED_PDF, { cause: error });
  });
  const pages = pdf.numPages;
  if (pages >= 1 && pages <= MAX_PAGES) {
    await limitAnnotations(pdf, images ? "with decoders" : "without");
    return pdf;
  }
  await pdf.loadingTask.destroy();
  if (!(pages >= 1)) throw new UnreadableFile(DAMAGED_PDF);
  throw new UnreadableFile(`The PDF has ${pages} pages; at most ${MAX_PAGES} can be read.`);
}
