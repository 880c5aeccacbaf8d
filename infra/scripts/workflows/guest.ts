/**
 * What runs and steps of a workflow have in common in their VM. Every intrinsic that is used later is taken out of the script's
 * reach; what the host reads has no prototype, so that no setter or `toJSON` of the script's comes between.
 */
export const GUEST = `
  for (const name of ["performance", "SharedArrayBuffer", "Atomics"]) delete globalThis[name];
  const { parse, stringify } = JSON;
  const { freeze, setPrototypeOf, keys, defineProperty, hasOwn, entries } = Object;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { slice, replaceAll, toLowerCase } = String.prototype;
  const { get: mapGet, set: mapSet, has: mapHas } = WeakMap.prototype;
  const resolved = Promise.resolve.bind(Promise);
  const rejected = Promise.reject.bind(Promise);
  const [text, Wrong, Failure] = [String, TypeError, Error];
  const bare = (value) => setPrototypeOf(value, null);
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  /* JSON of a value, and a TypeError with the place where JSON has no word for something. */
  const UNTOLD = freeze(bare({}));
  const isUntold = (value) =>
    typeof value === "function" || typeof value === "symbol" || typeof value === "bigint" ||
    (typeof value === "number" && value - value !== 0);
  const check = (name, value) => {
    if (isUntold(value)) throw UNTOLD;
    return value;
  };
  const escaped = (name) => apply(replaceAll, apply(replaceAll, name, ["~", "~0"]), ["/", "~1"]);
  const faultIn = (value) => {
    const holders = bare([]);
    const path = bare([]);
    let depth = -1;
    let fault = null;
    const told = (what) => {
      let at = "";
      for (let n = 1; n <= depth; n++) at += "/" + escaped(path[n]);
      fault = what + " at " + (at || "/");
      throw UNTOLD;
    };
    try {
      stringify(value, function (name, inner) {
        let n = depth;
        while (n >= 0 && holders[n] !== this) n--;
        depth = n < 0 ? depth + 1 : n;
        holders[depth] = this;
        path[depth] = name;
        for (n = depth; n >= 0; n--) if (isObject(inner) && holders[n] === inner) told("a cycle");
        if (isUntold(inner)) told(typeof inner === "number" ? text(inner) : "a " + typeof inner);
        return inner;
      });
    } catch {}
    return fault;
  };
  const isDeep = (error) => isObject(error) && error.name === "RangeError" && error.message === "Maximum call stack size exceeded";
  const jsonOf = (value, what) => {
    let json;
    try {
      json = stringify(value, check);
    } catch (error) {
      if (isDeep(error)) throw new Wrong(what + ": not serialisable, it nests too deep.");
      const fault = faultIn(value);
      if (fault !== null) throw new Wrong(what + ": not serialisable, " + fault + ".");
      throw error;
    }
    return json === undefined ? "null" : json;
  };

  /* What was thrown, read where its getters can do no harm. */
  const words = (read, most) => {
    try {
      const value = read();
      return typeof value === "string" ? apply(slice, value, [0, most]) : null;
    } catch {
      return null;
    }
  };
  const number = (read) => {
    try {
      const value = read();
      return typeof value === "number" && value - value === 0 ? value : null;
    } catch {
      return null;
    }
  };
  const told = (error) => {
    const read = isObject(error);
    const message = (read ? words(() => error.message, 2000) : null) ?? words(() => text(error), 2000);
    return bare({
      name: read ? words(() => error.name, 100) : null,
      message: message ?? "Something was thrown that cannot be told.",
      stack: read ? words(() => error.stack, 20000) : null,
    });
  };

  const line = (parts) => {
    let all = "";
    for (let n = 0; n < parts.length; n++) {
      const part = parts[n];
      let said = typeof part === "string" ? part : words(() => stringify(part), 65536);
      said ??= words(() => text(part), 65536) ?? "";
      all += (n > 0 ? " " : "") + said;
    }
    return all;
  };

  /* Chance, told by its seed (sfc32): the engine's own would come out alike in every VM. */
  const chance = ([a, b, c]) => {
    let count = 1;
    const next = () => {
      const sum = (a + b + count) | 0;
      count = (count + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum | 0;
      return sum >>> 0;
    };
    for (let n = 0; n < 12; n++) next();
    return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
  };

  class NonRetryableError extends Failure {
    get name() {
      return "NonRetryableError";
    }
  }
  const settingsOf = new WeakMap();
  const defineStep = (settings, work) => {
    if (typeof settings === "function") throw new Wrong("defineStep(settings, function): the function comes second.");
    if (typeof work !== "function") throw new Wrong("defineStep(settings, function): there is no function.");
    const step = (args, ctx) => work(args, ctx);
    apply(mapSet, settingsOf, [step, settings ?? {}]);
    return step;
  };
  const give = (target, name, value) => defineProperty(target, name, bare({ value, writable: true, configurable: true }));
`;

/** Source of `svc:workflow`, the module that a workflow may import. */
export const MODULE = `const { ${"defineStep, NonRetryableError, runStep, runStepMany, awaitApproval, complete, sleep, sleepUntil, now, uuid, log"} } = globalThis;
export { defineStep, NonRetryableError, runStep, runStepMany, awaitApproval, complete, sleep, sleepUntil, now, uuid, log };
`;
