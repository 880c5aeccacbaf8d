import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync } from "node:zlib";
import { languageFile } from "./languages.ts";
import { wasm, type WasmInstance } from "./wasm.ts";

/* Tesseract as WebAssembly, from npm packages alone: nothing is downloaded at run time. */

interface TesseractApi {
  Init(path: null, languages: string, engine: number): number;
  SetVariable(name: string, value: string): void;
  SetImageFile(exif: number, angle: number, upscale: boolean): number;
  Recognize(monitor: null): number;
  GetHOCRText(page: number): string;
  Clear(): void;
}

interface TesseractModule {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void };
  TessBaseAPI: new () => TesseractApi;
}

interface ModuleOptions {
  print(line: string): void;
  printErr(line: string): void;
  instantiateWasm(imports: object, done: (instance: WasmInstance, program: object) => void): Record<string, never>;
}

const resolve = createRequire(import.meta.url);
const CORE = "tesseract.js-core/tesseract-core-relaxedsimd-lstm";
const LSTM_ONLY = 1;
const WASM_PAGE = 65_536;

/** Lets an instance's memory grow up to `bytes`; beyond it, allocations in Tesseract fail. */
function limitMemory({ exports }: WasmInstance, bytes: number): void {
  for (const memory of Object.values(exports)) {
    if (!(memory instanceof wasm.Memory)) continue;
    const grow = memory.grow.bind(memory);
    memory.grow = (pages: number) => {
      if (memory.buffer.byteLength + pages * WASM_PAGE > bytes) throw new RangeError("The memory limit is reached");
      return grow(pages);
    };
  }
}

export interface TesseractOptions {
  /** Three letters each; their packages are installed. */
  languages: readonly string[];
  /** Maximum bytes of memory. */
  memory: number;
}

/** Starts Tesseract; takes 0.2 s and 90 MB. */
export async function openTesseract({ languages, memory }: TesseractOptions) {
  const create = resolve(CORE) as (options: ModuleOptions) => Promise<TesseractModule>;
  const program = new wasm.Module(readFileSync(resolve.resolve(`${CORE}.wasm`)));
  const ignore = (): void => {};
  const { FS, TessBaseAPI } = await create({
    print: ignore,
    printErr: ignore,
    instantiateWasm(imports, done) {
      const instance = new wasm.Instance(program, imports);
      limitMemory(instance, memory);
      done(instance, program);
      return {};
    },
  });
  for (const language of languages) {
    FS.writeFile(`./${language}.traineddata`, gunzipSync(readFileSync(languageFile(language))));
  }
  const api = new TessBaseAPI();
  if (api.Init(null, languages.join("+"), LSTM_ONLY) !== 0) throw new Error("Tesseract did not start");
  for (const language of languages) FS.unlink(`./${language}.traineddata`);
  return {
    /** The text of a picture (portable grey map) with positions, as hOCR. Throws if the picture cannot be read. */
    recognize(picture: Uint8Array, dpi: number): string {
      FS.writeFile("/input", picture);
      try {
        if (api.SetImageFile(1, 0, false) !== 0) throw new Error("Tesseract does not take the picture");
        api.SetVariable("user_defined_dpi", String(dpi));
        if (api.Recognize(null) !== 0) throw new Error("Tesseract failed");
        return api.GetHOCRText(0);
      } finally {
        api.Clear();
        FS.unlink("/input");
      }
    },
  };
}

export type Tesseract = Awaited<ReturnType<typeof openTesseract>>;
