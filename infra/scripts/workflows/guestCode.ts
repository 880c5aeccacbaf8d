import { EvalFlags, type JSValueHandle, type QuickJS, type QuickJSOptions } from "quickjs-wasi";
import { MODULE } from "./guest.ts";

const STACK = 256 * 1024;
export const SCRIPT = "script.js";
/** As QuickJS counts the states of a promise. */
export const PENDING = 0;
export const FULFILLED = 1;

/** The module that workflows import from; there is no other. */
const VIRTUAL = "svc:workflow";
const load = (name: string): string => {
  if (name === VIRTUAL) return MODULE;
  const refusal = new Error(`A workflow imports nothing but ${VIRTUAL}: ${name.slice(0, 200)}`);
  // the stack is this process's, and the script would see it
  refusal.stack = "";
  throw refusal;
};

/** Reads the clock that a VM is given, in epoch milliseconds. */
export const clockOf =
  (now: () => number): NonNullable<QuickJSOptions["wasi"]> =>
  (memory) => ({
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      new DataView(memory.buffer).setBigUint64(at, BigInt(now()) * 1_000_000n, true);
      return 0;
    },
  });

/** How VMs of workflows are made. */
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
  wasi: clockOf(own.now),
});

/** Evaluates what stands around a script, and gives what it gives. */
export function setUp(vm: QuickJS, guest: string, hosts: JSValueHandle[]): JSValueHandle[] {
  const made = vm.callFunction(vm.evalCode(guest, "<guest>"), vm.undefined, ...hosts);
  return Array.from({ length: made.length }, (_, n) => made.getProp(String(n)));
}

/** Bytecode of scripts by the digest of their text, the oldest of which go. Compiled where it will run. */
export function createCodeCache(most: number) {
  const kept = new Map<string, Uint8Array>();
  let bytes = 0;
  return {
    has: (sha256: string): boolean => kept.has(sha256),
    get(sha256: string): Uint8Array | undefined {
      const code = kept.get(sha256);
      if (!code) return undefined;
      kept.delete(sha256);
      kept.set(sha256, code);
      return code;
    },
    set(sha256: string, code: Uint8Array): void {
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

export const compile = (vm: QuickJS, js: string): Uint8Array => vm.compile(js, SCRIPT, EvalFlags.TYPE_MODULE);
