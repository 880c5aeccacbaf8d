import { EvalFlags, type QuickJS } from "quickjs-wasi";

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
  const cached = new Map<string, Uint8Array>();
  let bytes = 0;
  return {
    find(sha256: string): Uint8Array | undefined {
      const code = cached.get(sha256);
      if (!code) return undefined;
      cached.delete(sha256);
      cached.set(sha256, code);
      return code;
    },
    add(sha256: string, code: Uint8Array): void {
      if (cached.has(sha256)) return;
      cached.set(sha256, code);
      bytes += code.byteLength;
      for (const [oldest, { byteLength }] of cached) {
        if (bytes <= maxBytes || oldest === sha256) return;
        cached.delete(oldest);
        bytes -= byteLength;
      }
    },
  };
}

export type CodeCache = ReturnType<typeof createCodeCache>;
