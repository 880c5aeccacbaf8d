import { expect, test } from "vitest";
import { compileQuickJs } from "../vm/wasm.ts";
import { vmOptions } from "./vmOptions.ts";
import { createRealm, MAX_REUSED_BYTES, type RealmKind } from "./realm.ts";

const wasm = compileQuickJs();

const MARK = "of-an-earlier-tenant";
const DIRT = [
  `globalThis.mark = "${MARK}".repeat(20_000)`,
  `Object.prototype.mark = "${MARK}"; Array.prototype.push = () => "${MARK}"`,
  `const f = (n) => n === 0 ? "${MARK}" : f(n - 1) + ""; f(1000)`,
  `globalThis.kept = new Promise(() => {}); kept.then(() => "${MARK}"); new FinalizationRegistry(() => {}).register({}, "${MARK}")`,
  `globalThis.all = []; for (let n = 0; n < 4_000; n++) all.push({ mark: "${MARK}" + n })`,
  `throw new Error("${MARK}")`,
  `told("${MARK}"); new Uint8Array(500_000).fill(${MARK.charCodeAt(0)}); Symbol.for("${MARK}"); eval("var a = '${MARK}'")`,
];

function open() {
  const kind: RealmKind = {
    guest: "(tell) => { globalThis.told = tell; return [() => told] }",
    hosts: ["tell"],
    reservedBytes: 1_048_576,
  };
  const options = vmOptions({ wasm, memory: 32 * 1024 * 1024, interrupt: () => false, now: () => 0 });
  const realm = createRealm(kind, options, { tell: (said) => realm.vm().newPromise().handle ?? said });
  return realm;
}
function dirty(realm: ReturnType<typeof open>, script: string): void {
  try {
    void realm.vm().evalCode(script);
    realm.vm().executePendingJobs();
  } catch (error) {
    expect((error as Error).message).toContain(MARK);
  }
}

/** Runs a script, whatever it throws. */
function dirtyAny(realm: ReturnType<typeof createRealm>, script: string): void {
  try {
    void realm.vm().evalCode(script);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
}

test("a reset restores the memory byte for byte, so that no trace of a script remains", async () => {
  const realm = open();
  await realm.resetVm();
  const before = realm.vm();
  const { memory } = before.snapshot();
  for (const script of DIRT) {
    dirty(realm, script);
    expect(Buffer.from(realm.vm().snapshot().memory).includes(MARK)).toBe(true);
    await realm.resetVm();
    const now = Buffer.from(realm.vm().snapshot().memory);
    expect(now.includes(MARK)).toBe(false);
    // the memory keeps its size, and is empty beyond the baseline
    expect(now.subarray(0, memory.length).equals(memory)).toBe(true);
    expect(now.subarray(memory.length).every((byte) => byte === 0)).toBe(true);
  }
  expect(realm.vm()).toBe(before);
});

test("a reset copies what the guest has, and only clears the stack and what is reserved for a script", async () => {
  const kind: RealmKind = { guest: "() => []", hosts: [], reservedBytes: 1_048_576 };
  const options = vmOptions({ wasm, memory: 32 * 1024 * 1024, interrupt: () => false, now: () => 0 });
  const realm = createRealm(kind, options, {});
  await realm.resetVm();
  const { content, snapshot } = kind.baseline!;
  const copied = content.reduce((sum, { bytes }) => sum + bytes.length, 0);
  expect(copied).toBeGreaterThan(0);
  expect(copied).toBeLessThan(snapshot.memory.length / 3);
});

const DEEP = {
  calls: "const f = (n) => f(n + 1) + 1; f(0)",
  "large frames": "const f = (...all) => f(0, ...all); f(...Array.from({ length: 5_000 }))",
  "text of json": "const a = []; let b = a; for (let n = 0; n < 200_000; n++) b = b[0] = []; JSON.stringify(a)",
  source: "eval('('.repeat(100_000))",
  getters: "const o = { get a() { return o.a; } }; o.a",
  proxies: "let p = {}; for (let n = 0; n < 100_000; n++) p = new Proxy(p, {}); p.a",
  patterns: "new RegExp('(?:a|'.repeat(3_000) + 'b' + ')'.repeat(3_000)).exec('aaaa')",
  locals:
    "eval('function f(){' + Array.from({ length: 4_000 }, (_, n) => `let v${n}=1;`).join('') + 'return f()} f()')",
  replacements: "const f = () => 'a'.replace(/a/, f); f()",
  sorting: "const f = () => [3, 1, 2].sort(f); f()",
  spreading: "const f = (n) => Math.max(...Array(n).fill(n), f(n + 1)); f(1_000)",
};

test.each(Object.entries(DEEP))("no script uses the part of the stack that is not cleared: %s", async (_, script) => {
  const kind: RealmKind = { guest: "() => []", hosts: [], reservedBytes: 0 };
  let interrupts = 0;
  const options = vmOptions({ wasm, memory: 32 * 1024 * 1024, interrupt: () => ++interrupts > 1_000, now: () => 0 });
  const realm = createRealm(kind, options, {});
  await realm.resetVm();
  dirtyAny(realm, script);
  const { unreached } = kind.baseline!;
  expect(unreached).toBeGreaterThan(600_000);
  const stack = realm.vm().snapshot().memory.subarray(0, unreached);
  expect(Buffer.compare(stack, new Uint8Array(unreached))).toBe(0);
});

test("the whole stack is cleared if a script has come close to the part that none reaches", async () => {
  const kind: RealmKind = { guest: "() => []", hosts: [], reservedBytes: 0 };
  const options = vmOptions({ wasm, memory: 32 * 1024 * 1024, interrupt: () => false, now: () => 0 });
  const realm = createRealm(kind, options, {});
  await realm.resetVm();
  const before = realm.vm();
  const { memory } = Reflect.get(before, "exports") as { memory: { buffer: ArrayBuffer } };
  const { unreached } = kind.baseline!;
  new Uint8Array(memory.buffer).fill(1, unreached - 1, unreached);
  new Uint8Array(memory.buffer).fill(1, 0, 100);
  await realm.resetVm();
  expect(realm.vm()).toBe(before);
  expect(Buffer.compare(new Uint8Array(memory.buffer).subarray(0, unreached), new Uint8Array(unreached))).toBe(0);
});

test("a VM whose memory has grown large is replaced", async () => {
  const realm = open();
  await realm.resetVm();
  const before = realm.vm();
  dirty(realm, `globalThis.large = "${MARK}".repeat(1e6)`);
  expect(realm.bytes()).toBeGreaterThan(MAX_REUSED_BYTES);
  await realm.resetVm();
  expect(realm.vm()).not.toBe(before);
  expect(Buffer.from(realm.vm().snapshot().memory).includes(MARK)).toBe(false);
  expect(realm.bytes()).toBeLessThan(MAX_REUSED_BYTES);
});

test("a reset clears the library's own state, and the VM keeps working", async () => {
  const realm = open();
  for (let n = 0; n < 50; n++) {
    const [give] = await realm.resetVm();
    const vm = realm.vm();
    expect(vm.callFunction(give!, vm.undefined).typeof).toBe("function");
    expect(vm.evalCode("typeof told()").toString()).toBe("object");
    expect([vm.undefined, vm.null, vm.true, vm.false, vm.global].map((handle) => handle.typeof)).toEqual([
      "undefined",
      "object",
      "boolean",
      "boolean",
      "object",
    ]);
    const pending = vm.newPromise();
    void pending.settled;
    void vm.newEphemeralFunction(() => vm.undefined);
  }
  expect(Reflect.get(realm.vm(), "hostCallbacks").size).toBeLessThan(5);
});

test("a VM is replaced when the library lacks an internal that a reset needs", async () => {
  const realm = open();
  await realm.resetVm();
  const before = realm.vm();
  Reflect.set(before, "_ownedHandles", undefined);
  dirty(realm, `globalThis.mark = "${MARK}"`);
  await realm.resetVm();
  expect(realm.vm()).not.toBe(before);
  expect(realm.vm().evalCode("typeof mark").toString()).toBe("undefined");
});
