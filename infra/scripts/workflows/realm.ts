import { QuickJS, type JSValueHandle, type QuickJSOptions, type Snapshot } from "quickjs-wasi";

/** A VM whose memory grew beyond this is not used again: each script after it would clean all of it. Another takes 0.8 ms. */
export const KEPT = 4 * 1024 * 1024;

/** What quickjs-wasi has but does not declare. Where it is not there, VMs are made anew instead of being cleaned. */
interface Inside {
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
/** Handles that a VM makes when they are first asked for, and keeps. */
const MADE_ONCE = ["_undefined", "_null", "_true", "_false", "_global"] as const;
const insideOf = (vm: QuickJS): Inside => vm as unknown as Inside;

/** A function of the host as a script calls it. */
export type Host = Parameters<QuickJS["newFunction"]>[1];

/** A VM as it was before any script. */
interface Baseline {
  snapshot: Snapshot;
  /** Part of the memory that is not zero. */
  from: number;
  to: number;
  /** Functions that the guest gave out. */
  tokens: number[];
}

/** What VMs of one kind start from; the first that is opened makes the baseline. */
export interface Kind {
  /** Source of a function of the host functions, which gives an array of functions. */
  guest: string;
  /** Names of the host functions, in the order of its parameters. */
  hosts: readonly string[];
  /** Bytes that are set aside for a script, so that a small one grows no memory. */
  room: number;
  baseline?: Promise<Baseline>;
  made?: Baseline;
}

async function baselineOf(kind: Kind, options: QuickJSOptions): Promise<Baseline> {
  const vm = await QuickJS.create(options);
  const hosts = kind.hosts.map((name) => vm.newFunction(name, () => vm.undefined));
  const made = vm.callFunction(vm.evalCode(kind.guest, "<guest>"), vm.undefined, ...hosts);
  const tokens = Array.from({ length: made.length }, (_, n) => vm.exportHandle(made.getProp(String(n))));
  const { wasm_malloc, wasm_free } = insideOf(vm).exports ?? {};
  if (wasm_malloc && wasm_free) wasm_free(wasm_malloc(kind.room));
  const snapshot = vm.snapshot();
  const from = snapshot.memory.findIndex((byte) => byte !== 0);
  const to = snapshot.memory.findLastIndex((byte) => byte !== 0) + 1;
  return { snapshot, from, to, tokens };
}

/**
 * Writes the baseline's memory over that of a used VM: all that a script can change lies there, but for one global (the stack
 * pointer) and what the library itself keeps of it. Takes 0.06 ms. False: it could not be done.
 */
function clean(vm: QuickJS, { snapshot, from, to }: Baseline, hosts: readonly string[]): boolean {
  const inside = insideOf(vm);
  const { exports, hostCallbacks, _ownedHandles } = inside;
  const buffer = exports?.memory?.buffer;
  if (!buffer || !exports?.__stack_pointer || !hostCallbacks || !_ownedHandles) return false;
  if (buffer.byteLength > KEPT || MADE_ONCE.some((name) => inside[name] === undefined)) return false;
  const memory = new Uint8Array(buffer);
  memory.fill(0, 0, from);
  memory.set(snapshot.memory.subarray(from, to), from);
  memory.fill(0, to);
  exports.__stack_pointer.value = snapshot.stackPointer;
  _ownedHandles.clear();
  for (const name of MADE_ONCE) inside[name] = null;
  for (const name of hostCallbacks.keys()) if (!hosts.includes(name)) hostCallbacks.delete(name);
  return true;
}

/** Memory for one script after another, of which none finds anything of those before it. */
export function createRealm(kind: Kind, options: QuickJSOptions, hosts: Record<string, Host>) {
  let vm: QuickJS | undefined;
  /** What the guest gave out, where it is as new already. */
  let spare: JSValueHandle[] | undefined;

  /** What was made ready, or what can be made so at once. */
  function freshNow(): JSValueHandle[] | undefined {
    const ready = spare;
    spare = undefined;
    if (ready) return ready;
    const [made, baseline] = [vm, kind.made];
    if (!made || !baseline || !clean(made, baseline, kind.hosts)) return undefined;
    return baseline.tokens.map((token) => made.importHandle(token));
  }
  async function fresh(): Promise<JSValueHandle[]> {
    const now = freshNow();
    if (now) return now;
    kind.baseline ??= baselineOf(kind, options);
    const baseline = (kind.made = await kind.baseline);
    const made = (vm = await QuickJS.restore(baseline.snapshot, options));
    for (const name of kind.hosts) made.registerHostCallback(name, hosts[name]!);
    return baseline.tokens.map((token) => made.importHandle(token));
  }
  return {
    /** The VM of the script that runs. */
    vm: (): QuickJS => vm!,
    /** Makes it as new; gives the functions that the guest gave out. */
    fresh,
    freshNow,
    /** Makes it as new before it is needed; must not come between `fresh` and the end of what runs then. */
    async prepare(): Promise<void> {
      spare = await fresh();
    },
    /** The same where it can be done at once. */
    prepareNow(): void {
      spare = freshNow();
    },
    /** Bytes that it holds; 0 where they are not told. */
    bytes: (): number => (vm && insideOf(vm).exports?.memory?.buffer.byteLength) ?? 0,
  };
}

export type Realm = ReturnType<typeof createRealm>;
