import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { buildDocs, findPictures, findSources } from "./docs/buildDocs.ts";

/*
 * `node dev/console/build.ts` builds the console, the documentation and the API reference into `.runtime/console`, unless they are
 * already built from these sources. Every text file is stored three times: as it is, with gzip and with brotli.
 */

const root = join(import.meta.dirname, "..", "..");
const sources = join(root, "console");
const target = join(root, ".runtime", "console");
const ENTITIES = join(root, "node_modules", "decode-named-character-reference", "index.js");
const STAMP = "sources.sha256";
const COMPRESSED = /\.(m?js|css|html|svg|json)$/;
/** Files that pdf.js loads at run time: character tables, the fonts that PDFs may omit, and picture decoders without WebAssembly. */
const PDF_DATA = {
  cmaps: "cmaps/*.bcmap",
  standard_fonts: "standard_fonts/*.{pfb,ttf}",
  decoders: "wasm/*_nowasm_fallback.js",
};

/** A hash of everything that the build depends on: the sources, the packages, and these scripts. */
async function hashSources(): Promise<string> {
  const files = (await Array.fromAsync(glob("{console,dev/console}/**/*.*", { cwd: root }))).sort();
  const hash = createHash("sha256");
  for (const path of [...files, ...(await findSources(root)), ...(await findPictures(root)), "package-lock.json"])
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

function readStamp(): string | undefined {
  try {
    return readFileSync(join(target, STAMP), "utf8");
  } catch {
    return undefined;
  }
}

async function compress(folder: string): Promise<void> {
  const files = (await Array.fromAsync(glob("**/*.*", { cwd: folder }))).filter((file) => COMPRESSED.test(file));
  await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const bytes = readFileSync(path);
      const params = {
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        // level 11 takes seconds for a file above 1 MB, and makes it only a tenth smaller than level 9
        [constants.BROTLI_PARAM_QUALITY]: bytes.length > 1_000_000 ? 9 : constants.BROTLI_MAX_QUALITY,
      };
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
      writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

/**
 * Bundles everything that several screens share into one file. With a file for each shared part the console was larger, because
 * small files compress badly.
 */
const SHARED = { name: "shared", test: /console\/(parts|format|api)\//, minShareCount: 4 };

/** Bundles a program from its entry `input` in the folder `from`. */
async function bundle(from: string, input: string, outDir: string): Promise<void> {
  // otherwise the bundle would contain React's slow development version
  process.env["NODE_ENV"] = "production";
  // loaded only for a build, because it takes longer than everything else here
  const { build } = await import("vite");
  await build({
    root: from,
    // relative, so that the console works below any path of a proxy
    base: "./",
    configFile: false,
    // its browser variant decodes entities with innerHTML, which the page's policy forbids
    resolve: { alias: { "decode-named-character-reference": ENTITIES } },
    // its warnings are only about "use client", which has no meaning here
    logLevel: "error",
    build: {
      outDir,
      emptyOutDir: true,
      rolldownOptions: { input: join(from, input), output: { codeSplitting: { groups: [SHARED] } } },
      manifest: "manifest.json",
      modulePreload: { polyfill: false },
      // browsers that support light-dark()
      target: ["chrome123", "firefox120", "safari17.5"],
      assetsInlineLimit: 0,
    },
  });
}

/** Bundles the program that draws PDFs, and the files it loads. */
async function buildPdf(outDir: string): Promise<void> {
  await bundle(join(sources, "pdf"), "frame.html", outDir);
  const packaged = join(root, "node_modules", "pdfjs-dist");
  for (const [folder, pattern] of Object.entries(PDF_DATA))
    for (const file of await Array.fromAsync(glob(pattern, { cwd: packaged })))
      cpSync(join(packaged, file), join(outDir, folder, basename(file)));
}

/** The page that shows the description of the API, with the program that it runs. */
function copyReference(outDir: string): void {
  cpSync(join(import.meta.dirname, "reference"), outDir, { recursive: true });
  const packaged = join(root, "node_modules", "@fastify", "swagger-ui", "static");
  for (const file of ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"])
    cpSync(join(packaged, file), join(outDir, file));
}

async function buildConsole(): Promise<void> {
  const stamp = await hashSources();
  if (readStamp() === stamp) return;
  const next = `${target}.${process.pid}`;
  mkdirSync(next, { recursive: true });
  try {
    await bundle(sources, "index.html", next);
    await buildPdf(join(next, "pdf"));
    const docs = join(next, "docs");
    await bundle(join(sources, "docs"), "main.ts", docs);
    await buildDocs(root, docs);
    copyReference(join(next, "reference"));
    await compress(next);
    writeFileSync(join(next, STAMP), stamp);
    rmSync(target, { recursive: true, force: true });
    renameSync(next, target);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

await buildConsole();
