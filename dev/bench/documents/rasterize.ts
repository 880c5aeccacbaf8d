import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { encode } from "fast-png";

/* Draws pages of PDFs as pictures, with pdf.js and the canvas that comes with it as an optional package. */

const PACKAGE = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
const FONTS = join(PACKAGE, "standard_fonts", "/");
/** A module of pdf.js without types. */
const WORKER: string = "pdfjs-dist/legacy/build/pdf.worker.mjs";
/** Resolution of a usual scan. */
const [DPI, POINTS_PER_INCH] = [200, 72];

interface CanvasFactory {
  create(
    width: number,
    height: number,
  ): {
    context: { getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray } };
  };
}

const open = async (pdf: Uint8Array) => {
  const [{ getDocument }, worker] = await Promise.all([
    import("pdfjs-dist/legacy/build/pdf.mjs"),
    import(WORKER) as Promise<object>,
  ]);
  // the reader uses another build, which puts its parsing half under this name, too
  const other: unknown = Reflect.get(globalThis, "pdfjsWorker");
  Object.assign(globalThis, { pdfjsWorker: worker });
  try {
    const parameters = { verbosity: 0, disableFontFace: true, standardFontDataUrl: FONTS, useWorkerFetch: false };
    return await getDocument({ data: new Uint8Array(pdf), ...parameters }).promise;
  } finally {
    Object.assign(globalThis, { pdfjsWorker: other });
  }
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";

/** The first page as a PNG; undefined where there is no canvas. */
export const rasterize = async (pdf: Uint8Array): Promise<Buffer | undefined> => {
  const opened = await open(pdf);
  try {
    const page = await opened.getPage(1);
    const viewport = page.getViewport({ scale: DPI / POINTS_PER_INCH });
    const [width, height] = [Math.ceil(viewport.width), Math.ceil(viewport.height)];
    const { context } = (opened.canvasFactory as unknown as CanvasFactory).create(width, height);
    await page.render({ canvasContext: context, viewport } as never).promise;
    const { data } = context.getImageData(0, 0, width, height);
    return Buffer.from(encode({ width, height, data, channels: 4, depth: 8 }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    await opened.loadingTask.destroy();
  }
};
