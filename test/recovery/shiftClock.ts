import { afterTest } from "../cleanUp.ts";

/** Moves the clock of this process, and with it that of every platform that runs here, until the test ends. PostgreSQL's stays right. */
export function shiftClock(offset_ms: number): void {
  const Real = Date;
  const now = () => Real.now() + offset_ms;
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  afterTest(() => void (globalThis.Date = Real));
}
