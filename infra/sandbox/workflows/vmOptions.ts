import type { QuickJSOptions } from "quickjs-wasi";
import type { QuickJsWasm } from "../vm/wasm.ts";
import { WORKFLOW_MODULE } from "./sharedGuest.ts";

const STACK_BYTES = 256 * 1024;
/** The only module that a workflow can import. */
const MODULE_NAME = "svc:workflow";

function load(name: string): string {
  if (name === MODULE_NAME) return WORKFLOW_MODULE;
  const refusal = new Error(`A workflow imports nothing but ${MODULE_NAME}: ${name.slice(0, 200)}`);
  // the stack is that of this process, and the script could read it
  refusal.stack = "";
  throw refusal;
}

interface WorkflowVmOptions {
  wasm: QuickJsWasm;
  /** In bytes. */
  memory: number;
  /** Ends the script when it returns true. */
  interrupt(): boolean;
  /** The clock that the script sees, in epoch milliseconds. */
  now(): number;
}

/** Options of every VM that runs workflows. */
export const vmOptions = ({ wasm, memory, interrupt, now }: WorkflowVmOptions): QuickJSOptions => ({
  wasm,
  memoryLimit: memory,
  maxStackSize: STACK_BYTES,
  timezoneOffset: 0,
  interruptHandler: interrupt,
  moduleLoader: { load },
  wasi: (wasmMemory) => ({
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      new DataView(wasmMemory.buffer).setBigUint64(at, BigInt(now()) * 1_000_000n, true);
      return 0;
    },
  }),
});
