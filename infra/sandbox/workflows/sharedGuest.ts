import { BASE_GUEST } from "../vm/baseGuest.ts";
import { WEB_GUEST } from "./webGuest.ts";

/** JavaScript that stands before runs and steps in their VMs (see baseGuest.ts). */
export const SHARED_GUEST = `
  ${BASE_GUEST}
  const { get: mapGet, set: mapSet, has: mapHas } = WeakMap.prototype;
  const resolved = Promise.resolve.bind(Promise);
  const rejected = Promise.reject.bind(Promise);

  /* JSON of a value; a TypeError with the JSON pointer of what JSON cannot represent. */
  const UNSERIALISABLE = freeze(bare({}));
  const isUnserialisable = (value) =>
    typeof value === "function" || typeof value === "symbol" || typeof value === "bigint" ||
    (typeof value === "number" && value - value !== 0);
  const check = (name, value) => {
    if (isUnserialisable(value)) throw UNSERIALISABLE;
    return value;
  };
  const escapePointer = (name) => apply(replaceAll, apply(replaceAll, name, ["~", "~0"]), ["/", "~1"]);
  const findUnserialisable = (value) => {
    const holders = bare([]);
    const path = bare([]);
    let depth = -1;
    let found = null;
    const stop = (what) => {
      let pointer = "";
      for (let n = 1; n <= depth; n++) pointer += "/" + escapePointer(path[n]);
      found = what + " at " + (pointer || "/");
      throw UNSERIALISABLE;
    };
    try {
      stringify(value, function (name, inner) {
        let n = depth;
        while (n >= 0 && holders[n] !== this) n--;
        depth = n < 0 ? depth + 1 : n;
        holders[depth] = this;
        path[depth] = name;
        for (n = depth; n >= 0; n--) if (isObject(inner) && holders[n] === inner) stop("a cycle");
        if (isUnserialisable(inner)) stop(typeof inner === "number" ? toText(inner) : "a " + typeof inner);
        return inner;
      });
    } catch {}
    return found;
  };
  const isStackOverflow = (error) => isObject(error) && error.name === "RangeError" && error.message === "Maximum call stack size exceeded";
  const toJson = (value, what) => {
    let json;
    try {
      json = stringify(value, check);
    } catch (error) {
      if (isStackOverflow(error)) throw new GuestTypeError(what + ": not serialisable, it nests too deep.");
      const found = findUnserialisable(value);
      if (found !== null) throw new GuestTypeError(what + ": not serialisable, " + found + ".");
      throw error;
    }
    return json === undefined ? "null" : json;
  };

  const logLine = (parts) => {
    let line = "";
    for (let n = 0; n < parts.length; n++) {
      const part = parts[n];
      let shown = typeof part === "string" ? part : readText(() => stringify(part), 65536);
      shown ??= readText(() => toText(part), 65536) ?? "";
      line += (n > 0 ? " " : "") + shown;
    }
    return line;
  };

  /* Random numbers from a seed (sfc32): the engine's own generator has the same state in every VM of a baseline. */
  const seededRandom = ([a, b, c]) => {
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

  class NonRetryableError extends GuestError {
    get name() {
      return "NonRetryableError";
    }
  }
  const stepSettings = new WeakMap();
  const defineStep = (settings, work) => {
    if (typeof settings === "function") throw new GuestTypeError("defineStep(settings, function): the function is the second argument.");
    if (typeof work !== "function") throw new GuestTypeError("defineStep(settings, function): there is no function.");
    const step = (args, ctx) => work(args, ctx);
    apply(mapSet, stepSettings, [step, settings ?? {}]);
    return step;
  };
  const define = (target, name, value) => defineProperty(target, name, bare({ value, writable: true, configurable: true }));
  ${WEB_GUEST}
`;

const EXPORTS = `defineStep, NonRetryableError, runStep, runStepMany, awaitApproval, startRun, waitForRun, waitForEvent, agent, complete, continueAs,
  sleep, sleepUntil, now, uuid, log`;

/** Source of `svc:workflow`, the module that a workflow may import. */
export const WORKFLOW_MODULE = `const { ${EXPORTS} } = globalThis;
export { ${EXPORTS} };
`;

/** 96 bits that are the same on every tick of a run: the seed of its random numbers. */
export const seedOf = (run_id: string): number[] =>
  [0, 8, 16].map((at) => Number.parseInt(run_id.replaceAll("-", "").slice(at, at + 8), 16) | 0);
