import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { vmOptions } from "./guestCode.ts";
import { createRealm, KEPT, type Kind } from "./realm.ts";

const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => never };
const wasm = new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")));

const MARK = "of-the-tenant-before";
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
  const kind: Kind = {
    guest: "(tell) => { globalThis.told = tell; return [() => told] }",
    hosts: ["tell"],
    room: 1_048_576,
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

test("nothing of a script is left: the memory is, byte for byte, that of a VM which ran none", async () => {
  const realm = open();
  await realm.fresh();
  const before = realm.vm();
  const { memory } = before.snapshot();
  for (const script of DIRT) {
    dirty(realm, script);
    expect(Buffer.from(realm.vm().snapshot().memory).includes(MARK)).toBe(true);
    await realm.fresh();
    const now = Buffer.from(realm.vm().snapshot().memory);
    expect(now.includes(MARK)).toBe(false);
    // what it grew by stays, and is empty
    expect(now.subarray(0, memory.length).equals(memory)).toBe(true);
    expect(now.subarray(memory.length).every((byte) => byte === 0)).toBe(true);
  }
  expect(realm.vm()).toBe(before);
});

test("a VM that grew large is not used again", async () => {
  const realm = open();
  await realm.fresh();
  const before = realm.vm();
  dirty(realm, `globalThis.large = "${MARK}".repeat(1e6)`);
  expect(realm.bytes()).toBeGreaterThan(KEPT);
  await realm.fresh();
  expect(realm.vm()).not.toBe(before);
  expect(Buffer.from(realm.vm().snapshot().memory).includes(MARK)).toBe(false);
  expect(realm.bytes()).toBeLessThan(KEPT);
});

test("what the library keeps of a VM goes too, and its functions work on", async () => {
  const realm = open();
  for (let n = 0; n < 50; n++) {
    const [give] = await realm.fresh();
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

test("where the library has changed inside, VMs are made anew", async () => {
  const realm = open();
  await realm.fresh();
  const before = realm.vm();
  Reflect.set(before, "_ownedHandles", undefined);
  dirty(realm, `globalThis.mark = "${MARK}"`);
  await realm.fresh();
  expect(realm.vm()).not.toBe(before);
  expect(realm.vm().evalCode("typeof mark").toString()).toBe("undefined");
});
