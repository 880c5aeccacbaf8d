import { SHARED_GUEST } from "./sharedGuest.ts";

/**
 * The context of a step. What the step requests of the platform goes through the host function `request`, which takes and
 * returns JSON. A function of the host functions, which returns `[prepare, execute, describe, inspect, executeNow]`.
 */
export const STEP_GUEST = `(request, addLog, deliverResult, webFunction, randomBytes) => {
  ${SHARED_GUEST}
  /* Errors of the host with their codes, for a step that does not catch them. */
  const hostErrors = new WeakMap();
  const call = async (what, json) => {
    // created here, while the script's own lines are on the stack
    const error = new GuestError();
    const answer = bare(parse(await request(what, json)));
    if (answer.ok) return answer.value;
    const { message, code, final } = answer.error;
    define(error, "message", message);
    define(error, "code", code);
    define(error, "final", final);
    apply(mapSet, hostErrors, [error, answer.error]);
    throw error;
  };
  const fetch = createFetch(call, (answer) => answer);
  const callWith = (what) => async (input) => call(what, toJson(input, "The input of " + what));
  const log = (...parts) => void addLog(logLine(parts));
  const refuseInStep = (name) => () => {
    const error = new GuestError(name + "() is called by run(), not by a step.");
    apply(mapSet, hostErrors, [error, bare({ code: "nested_step", final: true })]);
    throw error;
  };
  const runFunctions = bare({});
  for (const name of ["runStep", "runStepMany", "awaitApproval", "startRun", "waitForRun", "waitForEvent", "agent", "complete", "continueAs",
    "sleep", "sleepUntil", "now", "uuid"]) runFunctions[name] = refuseInStep(name);
  for (const name in runFunctions) define(globalThis, name, runFunctions[name]);
  define(globalThis, "log", log);
  define(globalThis, "defineStep", defineStep);
  define(globalThis, "NonRetryableError", NonRetryableError);

  /* Timers that have not fired, by their number. */
  const timers = bare({});
  let lastTimer = 0;
  const setTimeout = (work, ms, ...args) => {
    if (typeof work !== "function") throw new GuestTypeError("setTimeout: the first argument must be a function.");
    const id = ++lastTimer;
    timers[id] = true;
    const fire = () => {
      if (timers[id] !== true) return;
      delete timers[id];
      work(...args);
    };
    const fail = (error) => log("setTimeout: " + describeThrown(error).message);
    call("timer", toText(ms ?? 0)).then(fire).catch(fail);
    return id;
  };
  define(globalThis, "setTimeout", setTimeout);
  define(globalThis, "clearTimeout", (id) => void delete timers[id]);
  const randomHex = () => {
    let hex = "";
    const text = randomBytes("16");
    for (let n = 0; n < 16; n++) {
      const byte = apply(charCodeAt, text, [n]);
      const own = n === 6 ? (byte & 15) | 64 : n === 8 ? (byte & 63) | 128 : byte;
      hex += (own < 16 ? "0" : "") + own.toString(16) + (n === 3 || n === 5 || n === 7 || n === 9 ? "-" : "");
    }
    return hex;
  };
  defineWeb(log, {
    randomUUID: randomHex,
    getRandomValues(view) {
      const bytes = toBytes(randomBytes(toText(view.byteLength)));
      new Bytes(view.buffer, view.byteOffset, view.byteLength).set(bytes);
      return view;
    },
  });

  /* Runs before the script. */
  const prepare = (seed) => define(Math, "random", seededRandom(parse(seed)));
  const execute = async (module, name, input) => {
    const { args, context } = bare(parse(input));
    const { steps } = module;
    const work = isObject(steps) && hasOwn(steps, name) ? steps[name] : undefined;
    if (typeof work !== "function") {
      const error = new GuestError("There is no step " + stringify(apply(slice, name, [0, 100])) + ".");
      apply(mapSet, hostErrors, [error, bare({ code: "unknown_step", final: true })]);
      throw error;
    }
    const callTool = callWith("tool");
    const tools = freeze({ call: async (tool, toolArgs) => callTool({ name: tool, args: toolArgs === undefined ? {} : toolArgs }) });
    const ctx = freeze({
      ...runFunctions,
      ...context,
      secrets: freeze({ get: async (secret) => call("secret", toText(secret)) }),
      fetch,
      chat: callWith("chat"),
      agents: freeze({ run: callWith("agent") }),
      knowledge: freeze({
        search: callWith("search"),
        read: callWith("read"),
        push: callWith("push"),
        remove: callWith("remove"),
      }),
      files: freeze({ save: callWith("save_file"), read: callWith("read_file") }),
      tools,
      log,
      NonRetryableError,
    });
    const result = await work(args, ctx);
    try {
      return toJson(result, "The result of the step");
    } catch (error) {
      if (error instanceof GuestTypeError) apply(mapSet, hostErrors, [error, bare({ final: true })]);
      throw error;
    }
  };
  /* Delivers the result of a step as soon as there is one. */
  const executeNow = async (module, name, input) => deliverResult(await execute(await module, name, input));
  const readNumber = (read) => {
    try {
      const value = read();
      return typeof value === "number" && value - value === 0 ? value : null;
    } catch {
      return null;
    }
  };
  /* JSON of what a step threw. */
  const describe = (error) => {
    const thrown = describeThrown(error);
    const known = isObject(error) && apply(mapHas, hostErrors, [error]) ? apply(mapGet, hostErrors, [error]) : bare({});
    thrown.code = known.code ?? null;
    thrown.final = known.final === true || thrown.name === "NonRetryableError";
    thrown.retryAfter = isObject(error) ? readNumber(() => error.retryAfter) : null;
    return stringify(thrown);
  };
  /* JSON of what a module exports. */
  const inspect = (module) => {
    const { meta, steps, run } = module;
    const found = bare([]);
    if (isObject(steps)) {
      const names = keys(steps);
      for (let n = 0; n < names.length; n++) {
        const step = steps[names[n]];
        const callable = typeof step === "function";
        const settings = callable && apply(mapHas, stepSettings, [step]) ? apply(mapGet, stepSettings, [step]) : {};
        found[n] = bare({ name: names[n], callable, settings: parse(toJson(settings, "The settings of the step " + names[n])) });
      }
    }
    return stringify(bare({
      meta: meta === undefined ? null : parse(toJson(meta, "meta")),
      runs: typeof run === "function",
      steps: steps === undefined || isObject(steps) ? found : null,
    }));
  };
  return [prepare, execute, describe, inspect, executeNow];
}`;
