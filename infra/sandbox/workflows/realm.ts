import { QuickJS, type JSValueHandle, type QuickJSOptions, type Snapshot } from "quickjs-wasi";

/** A VM with more memory is not reused, because cleaning it would take longer than the 0.8 ms of a new one. */
export const MAX_REUSED_BYTES = 4 * 1024 * 1024;

/** Undeclared internals of quickjs-wasi. If one is missing, every script gets a new VM. */
interface Internals {
  exports?: {
    memory?: { buffer: ArrayBuffer };
    __stack_pointer?: { value: number };
    wasm_malloc?(bytes: number): number;
    wasm_free?(at: number): void;
  };
  hostCallbacks?: Map<string, unknown>;
  _ownedHandles?: Set<unknown>;
  _undefined?: unknown;
  _null?: unknown;
  _true?: unknown;
  _false?: unknown;
  _global?: unknown;
}
/** Handles that a VM creates on first use and then keeps. */
const CACHED_HANDLES = ["_undefined", "_null", "_true", "_false", "_global"] as const;
const internalsOf = (vm: QuickJS): Internals => vm as unknown as Internals;

/** A function of the host that a script can call. */
export type HostFunction = Parameters<QuickJS["newFunction"]>[1];

/** The state of a VM with its guest loaded, before any script. */
interface Baseline {
  snapshot: Snapshot;
  /** The parts of its memory that are not zero, in order. Most of it is: the stack, and what is reserved for a script. */
  content: { at: number; bytes: Uint8Array }[];
  /** The end of the part of the stack that no script reaches; 0 if the whole memory is cleared. */
  unreached: number;
  /** Exported handles of the functions that the guest returned. */
  guestFunctions: number[];
}

/** The parts that all VMs of one kind share. The first VM opened creates the baseline. */
export interface RealmKind {
  /** Source of a JavaScript function that takes the host functions and returns an array of guest functions. */
  guest: string;
  /** Names of the host functions, in the order of its parameters. */
  hosts: readonly string[];
  /** Bytes reserved for a script, so that a small one does not grow the memory. Every reset clears them, used or not. */
  reservedBytes: number;
  pendingBaseline?: Promise<Baseline>;
  baseline?: Baseline;
}

/**
 * QuickJS ends a script that uses more than `maxStackSize` of the stack. What it calls without a check of its own takes a few
 * kilobytes more, and at most so many.
 */
const STACK_MARGIN = 64 * 1024;
/** Bytes below that which must still be zero; otherwise everything is cleared. */
const GUARD_BYTES = 32 * 1024;

/** Granularity at which the content of a snapshot is found. */
const BLOCK_BYTES = 16 * 1024;
const EMPTY_BLOCK = new Uint8Array(BLOCK_BYTES);
const EMPTY_GUARD = new Uint8Array(GUARD_BYTES);

/** The parts of a VM's memory that are not zero. */
function findContent(memory: Uint8Array): Baseline["content"] {
  const content: Baseline["content"] = [];
  let start: number | undefined;
  for (let at = 0; at < memory.length; at += BLOCK_BYTES) {
    const block = memory.subarray(at, at + BLOCK_BYTES);
    const isEmpty = Buffer.compare(block, EMPTY_BLOCK.subarray(0, block.length)) === 0;
    if (isEmpty && start !== undefined) content.push({ at: start, bytes: memory.subarray(start, at) });
    start = isEmpty ? undefined : (start ?? at);
  }
  if (start !== undefined) content.push({ at: start, bytes: memory.subarray(start) });
  return content;
}

/** The stack is the first part of the memory and grows towards its beginning. */
function findUnreached({ stackPointer }: Snapshot, content: Baseline["content"], maxStackSize: number): number {
  const unreached = stackPointer - maxStackSize - STACK_MARGIN;
  return unreached >= GUARD_BYTES && content[0] !== undefined && content[0].at >= unreached ? unreached : 0;
}

async function createBaseline(kind: RealmKind, options: QuickJSOptions): Promise<Baseline> {
  const vm = await QuickJS.create(options);
  const hosts = kind.hosts.map((name) => vm.newFunction(name, () => vm.undefined));
  const returned = vm.callFunction(vm.evalCode(kind.guest, "<guest>"), vm.undefined, ...hosts);
  const guestFunctions = Array.from({ length: returned.length }, (_, n) =>
    vm.exportHandle(returned.getProp(String(n))),
  );
  const { wasm_malloc, wasm_free } = internalsOf(vm).exports ?? {};
  if (wasm_malloc && wasm_free) wasm_free(wasm_malloc(kind.reservedBytes));
  const snapshot = vm.snapshot();
  const content = findContent(snapshot.memory);
  // without a limit of the stack, a script may use all of it
  const unreached = findUnreached(snapshot, content, options.maxStackSize ?? Infinity);
  return { snapshot, content, unreached, guestFunctions };
}

/** The memory from here on has to be restored; what is before is still empty. */
function findStart(memory: Uint8Array, unreached: number): number {
  const guard = memory.subarray(unreached - GUARD_BYTES, unreached);
  const isEmpty = unreached > 0 && Buffer.compare(guard, EMPTY_GUARD) === 0;
  return isEmpty ? unreached : 0;
}

/**
 * Restores a used VM to its baseline in 0.05 ms: overwrites the memory, which holds everything a script can change, and resets the
 * stack pointer and the library's own state. Returns false if the VM cannot be reused. Under load the memory is no longer in the
 * processor's cache, and each byte counts: so zeros are not copied, and two thirds of the stack, which no script reaches, not cleared.
 */
function reset(vm: QuickJS, { snapshot, content, unreached }: Baseline, hosts: readonly string[]): boolean {
  const internals = internalsOf(vm);
  const { exports, hostCallbacks, _ownedHandles } = internals;
  const buffer = exports?.memory?.buffer;
  if (!buffer || !exports?.__stack_pointer || !hostCallbacks || !_ownedHandles) return false;
  if (buffer.byteLength > MAX_REUSED_BYTES || CACHED_HANDLES.some((name) => internals[name] === undefined))
    return false;
  const memory = new Uint8Array(buffer);
  let end = findStart(memory, unreached);
  for (const { at, bytes } of content) {
    memory.fill(0, end, at);
    memory.set(bytes, at);
    end = at + bytes.length;
  }
  memory.fill(0, end);
  exports.__stack_pointer.value = snapshot.stackPointer;
  _ownedHandles.clear();
  for (const name of CACHED_HANDLES) internals[name] = null;
  for (const name of hostCallbacks.keys()) if (!hosts.includes(name)) hostCallbacks.delete(name);
  return true;
}

/** A VM for one script after another, none of which finds a trace of an earlier one. */
export function createRealm(kind: RealmKind, options: QuickJSOptions, hosts: Record<string, HostFunction>) {
  let current: QuickJS | undefined;
  /** Guest functions of a VM that was reset in advance. */
  let prepared: JSValueHandle[] | undefined;

  /** Undefined if a new VM is needed, which takes longer. */
  function resetVmNow(): JSValueHandle[] | undefined {
    const ready = prepared;
    prepared = undefined;
    if (ready) return ready;
    const [vm, baseline] = [current, kind.baseline];
    if (!vm || !baseline || !reset(vm, baseline, kind.hosts)) return undefined;
    return baseline.guestFunctions.map((handle) => vm.importHandle(handle));
  }
  async function resetVm(): Promise<JSValueHandle[]> {
    const now = resetVmNow();
    if (now) return now;
    kind.pendingBaseline ??= createBaseline(kind, options);
    const baseline = (kind.baseline = await kind.pendingBaseline);
    const vm = (current = await QuickJS.restore(baseline.snapshot, options));
    for (const name of kind.hosts) vm.registerHostCallback(name, hosts[name]!);
    return baseline.guestFunctions.map((handle) => vm.importHandle(handle));
  }
  return {
    /** The VM of the running script. */
    vm: (): QuickJS => current!,
    /** Resets the VM and returns the guest functions. */
    resetVm,
    /** Like `resetVm`; undefined if that would have to wait. */
    resetVmNow,
    /** Resets the VM in advance. Must not be called between `resetVm` and the end of the script. */
    async prepare(): Promise<void> {
      prepared = await resetVm();
    },
    /** Like `prepare`; does nothing if that would have to wait. */
    prepareNow(): void {
      prepared = resetVmNow();
    },
    /** Bytes of memory that the VM holds; 0 if unknown. */
    bytes: (): number => (current && internalsOf(current).exports?.memory?.buffer.byteLength) ?? 0,
  };
}

export type Realm = ReturnType<typeof createRealm>;
