/* TypeScript declares WebAssembly for browsers only. */

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface WasmInstance {
  exports: Record<string, unknown>;
}

interface Wasm {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => WasmInstance;
  Memory: new () => WasmMemory;
}

export const wasm = Reflect.get(globalThis, "WebAssembly") as Wasm;
