import { EvalFlags, type QuickJS, type QuickJSOptions } from "quickjs-wasi";
import { MODULE } from "./guest.ts";

const STACK = 256 * 1024;
const SCRIPT = "script.js";

/** The module that workflows import from; there is no other. */
const VIRTUAL = "svc:workflow";
function load(name: string): string {
  if (name === VIRTUAL) return MODULE;
  const refusal = new Error(`A workflow imports nothing but ${VIRTUAL}: ${name.slice(0, 200)}`);
  // the stack is this process's, and the script would see it
  refusal.stack = "";
  throw refusal;
}

/** How VMs of workflows are made. `now`: the clock that a script sees, in epoch milliseconds. */
export const vmOptions = (own: {
  wasm: QuickJSOptions["wasm"];
  memory: number;
  interrupt: () => boolean;
  now: () => number;
}): QuickJSOptions => ({
  wasm: own.wasm,
  memoryLimit: own.memory,
  maxStackSize: STACK,
  timezoneOffset: 0,
  interruptHandler: own.interrupt,
  moduleLoader: { load },
  wasi: (memory) => ({
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      new DataView(memory.buffer).setBigUint64(at, BigInt(own.now()) * 1_000_000n, true);
      return 0;
    },
  }),
});

/** Bytecode of a module, to be run in a VM of the same kind. */
export function compile(vm: QuickJS, js: string): Uint8Array {
  try {
    return vm.compile(js, SCRIPT, EvalFlags.TYPE_MODULE);
  } catch (error) {
    throw new Error((error as Error).message.replace(/^Compilation error: (Error: )?/, ""), { cause: error });
  }
}

/** Bytecode of scripts by the digest of their text; those that were not used for longest go first. `most`: bytes. */
export function createCodeCache(most: number) {
  const kept = new Map<string, Uint8Array>();
  let bytes = 0;
  return {
    find(sha256: string): Uint8Array | undefined {
      const code = kept.get(sha256);
      if (!code) return undefined;
      kept.delete(sha256);
      kept.set(sha256, code);
      return code;
    },
    add(sha256: string, code: Uint8Array): void {
      if (kept.has(sha256)) return;
      kept.set(sha256, code);
      bytes += code.byteLength;
      for (const [oldest, { byteLength }] of kept) {
        if (bytes <= most || oldest === sha256) return;
        kept.delete(oldest);
        bytes -= byteLength;
      }
    },
  };
}

export type CodeCache = ReturnType<typeof createCodeCache>;
