import { readFileSync } from "node:fs";

/* Preloaded into a process: its clock is off by the milliseconds in the file CRASH_CLOCK, and jumps when the file changes. */

const EVERY_MS = 100;

const file = process.env["CRASH_CLOCK"];
if (file !== undefined) {
  const Real = Date;
  let offset_ms = 0;
  const read = () => {
    try {
      offset_ms = Number(readFileSync(file, "utf8"));
    } catch {
      // a process without free file handles keeps its current offset, because the harness must not end it
    }
  };
  read();
  setInterval(read, EVERY_MS).unref();
  const now = () => Real.now() + offset_ms;
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}
