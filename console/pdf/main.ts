import { AnnotationMode, getDocument, GlobalWorkerOptions, type PDFDocumentProxy } from "pdfjs-dist";
// the bundler replaces this by the address of the file
// oxlint-disable-next-line import/default
import worker from "pdfjs-dist/build/pdf.worker.min.mjs?url";

/* Renders one page of a PDF as an image, in its own frame: no content of the file becomes an element, a link or a script. The frame's address names the document (`#<id>/<page>`), and the console requests further pages by messages. */

const FOLDER = new URL("./", document.baseURI);
const ADDRESS = /^#([0-9a-f-]{36})\/(\d{1,6})$/;
/** More pixels need too much memory on a phone. */
const MAX_PIXELS = 8_000_000;
/** Maximum length of a side that browsers render. */
const MAX_SIDE = 8_000;
/** Pixels of one image in a file. */
const MAX_PICTURE = 32_000_000;

/** Trusted Types: the browser's check of script addresses, with one policy for one address. Absent in browsers without it. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(input: string): string };
}
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const script = new URL(worker, document.baseURI).href;
const policy = trustedTypes?.createPolicy("pdf-worker", { createScriptURL: () => script });

type Message = { pages: number; page: number; ratio: number } | { problem: string };
const report = (message: Message) => window.parent.postMessage(message, location.origin);

async function open(id: string): Promise<PDFDocumentProxy> {
  const response = await fetch(new URL(`../../api/v1/knowledge/documents/${id}/content`, FOLDER));
  if (!response.ok) throw new Error(`The file cannot be loaded: the service answered with ${response.status}.`);
  GlobalWorkerOptions.workerPort = new Worker(policy?.createScriptURL("") ?? script, { type: "module" });
  const folder = (name: string) => new URL(`${name}/`, FOLDER).href;
  return getDocument({
    data: new Uint8Array(await response.arrayBuffer()),
    cMapUrl: folder("cmaps"),
    standardFontDataUrl: folder("standard_fonts"),
    wasmUrl: folder("decoders"),
    // the page's policy forbids generated code
    useWasm: false,
    useSystemFonts: false,
    enableXfa: false,
    maxImageSize: MAX_PICTURE,
    canvasMaxAreaInBytes: MAX_PIXELS * 4,
    verbosity: 0,
  }).promise;
}

async function draw(pdf: PDFDocumentProxy, number: number): Promise<void> {
  const page = await pdf.getPage(Math.min(pdf.numPages, Math.max(1, number)));
  const { width, height } = page.getViewport({ scale: 1 });
  const wanted = (innerWidth * devicePixelRatio) / width;
  const scale = Math.min(wanted, Math.sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Page ${page.pageNumber}`);
  const viewport = page.getViewport({ scale });
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  await page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE }).promise;
  document.querySelector("#page")?.replaceChildren(canvas);
  page.cleanup();
  report({ pages: pdf.numPages, page: page.pageNumber, ratio: canvas.width / canvas.height });
}

const fail = (error: unknown) => report({ problem: error instanceof Error ? error.message : String(error) });

function start(): void {
  const [, id, page] = ADDRESS.exec(location.hash) ?? [];
  if (!id || !page) return fail("The address of the frame names no document.");
  const pdf = open(id);
  let wanted = Number(page);
  let drawing = pdf.then((opened) => draw(opened, wanted)).catch(fail);
  // renders one page at a time, and only the last one of those requested meanwhile
  const redraw = () => {
    const mine = wanted;
    drawing = drawing.then(async () => (mine === wanted ? draw(await pdf, mine) : undefined)).catch(fail);
  };
  window.addEventListener("message", ({ origin, source, data }: MessageEvent<unknown>) => {
    if (origin !== location.origin || source !== window.parent || typeof data !== "number") return;
    wanted = data;
    redraw();
  });
}

start();
