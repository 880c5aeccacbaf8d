import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { QuickJSOptions } from "quickjs-wasi";

/** QuickJS, compiled. */
export type QuickJsWasm = QuickJSOptions["wasm"];

// TypeScript declares WebAssembly for browsers only
const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => object };

/** Compiles QuickJS once for a process: the result can be posted to its threads. */
export const compileQuickJs = (): QuickJsWasm =>
  new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm"))) as QuickJsWasm;
