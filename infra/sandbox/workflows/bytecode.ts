import { EvalFlags, type QuickJS } from "quickjs-wasi";
import { createSizedCache } from "#events/sizedCache.ts";

/** Compiles a module to bytecode, which VMs with the same options can run. Throws the script's error. */
export function compileModule(vm: QuickJS, js: string): Uint8Array {
  try {
    return vm.compile(js, "script.js", EvalFlags.TYPE_MODULE);
  } catch (error) {
    throw new Error((error as Error).message.replace(/^Compilation error: (Error: )?/, ""), { cause: error });
  }
}

/** Bytecode of scripts by the SHA-256 of their source. Beyond `maxBytes` the least recently used script is dropped. */
export function createCodeCache(maxBytes: number) {
  const cached = createSizedCache<Uint8Array>({ size: maxBytes });
  return {
    find: cached.use,
    add(sha256: string, code: Uint8Array): void {
      if (!cached.find(sha256)) cached.set(sha256, code, code.byteLength);
    },
  };
}

export type CodeCache = ReturnType<typeof createCodeCache>;
