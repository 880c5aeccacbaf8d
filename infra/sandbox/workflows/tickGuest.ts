import { LINK_GUEST } from "./linkGuest.ts";
import { RACE_GUEST } from "./raceGuest.ts";
import { SHARED_GUEST } from "./sharedGuest.ts";

/**
 * The functions that `run()` can call. Each requests an answer from the host: JSON of the result, undefined while there is none,
 * or "!" and JSON of an error. A function of the host functions, which returns
 * `[prepare, start, describe, resultJson, allSignals, signalAt, stack, deliver]`.
 */
export const TICK_GUEST = `(findAnswer, requestStep, request, webFunction) => {
  ${SHARED_GUEST}
  /* Signals that suspend run(), in the order in which they were raised. */
  const raised = bare([]);
  const signalIndexes = new WeakMap();
  class WorkflowSuspend extends GuestError {
    get name() {
      return "WorkflowSuspend";
    }
  }
  const suspend = (call, ends) => {
    const signal = new WorkflowSuspend(call + (ends ? " ends run()." : " suspends run() until it has a result."));
    const n = raised.length;
    raised[n] = bare({ signal, call, ends, stack: readText(() => signal.stack, 20000) });
    apply(mapSet, signalIndexes, [signal, n]);
    return rejected(signal);
  };
  const signalIndex = (error) =>
    isObject(error) && apply(mapHas, signalIndexes, [error]) ? apply(mapGet, signalIndexes, [error]) : null;
  ${RACE_GUEST}
  /* The signal that an error contains, as its cause or in its list of errors. */
  const wrappedSignal = (error) => {
    let inner = error;
    for (let n = 0; n < 10 && isObject(inner); n++) {
      const index = signalIndex(inner);
      if (index !== null) return index;
      if (isArray(inner.errors)) for (let m = 0; m < inner.errors.length && m < 1000; m++) {
        const listed = signalIndex(inner.errors[m]);
        if (listed !== null) return listed;
      }
      inner = inner.cause;
    }
    return null;
  };
  const readError = (answer) => {
    const { code, message } = bare(parse(apply(slice, answer, [1])));
    if (code === undefined) return new GuestTypeError(message);
    const error = new GuestError(message);
    error.code = code;
    return error;
  };
  const isError = (answer) => typeof answer === "string" && answer[0] === "!";
  const toPromise = (answer, call, name) => {
    if (answer === undefined) return suspend(call + (name === undefined ? "()" : '("' + name + '")'), false);
    if (!isError(answer)) return isOrdered ? queueAnswer(parse(answer), false) : resolved(parse(answer));
    const error = readError(answer);
    if (error.code === undefined) throw error;
    return isOrdered ? queueAnswer(error, true) : rejected(error);
  };
  const toValue = (answer) => {
    if (isError(answer)) throw readError(answer);
    return parse(answer);
  };
  const checkOptions = (call, options) => {
    if (options === undefined || options === null) return bare({});
    if (typeof options !== "object") throw new GuestTypeError(call + ": the options must be an object.");
    return options;
  };
  const checkNames = (call, options, known) => {
    const names = keys(options);
    for (let n = 0; n < names.length; n++) {
      let isKnown = false;
      for (let m = 0; m < known.length; m++) if (known[m] === names[n]) isKnown = true;
      if (!isKnown) throw new GuestTypeError(call + ": " + apply(slice, names[n], [0, 100]) + " is not an option.");
    }
  };
  const keyIn = (call, { key }) => {
    if (key === undefined || key === null) return undefined;
    if (typeof key !== "string" && typeof key !== "number") throw new GuestTypeError(call + ": key must be a string or a number.");
    return toText(key);
  };
  const modeIn = (call, { onError }) => {
    if (onError === undefined || onError === "fail" || onError === "return") return onError === "return" ? "return" : "fail";
    throw new GuestTypeError(call + ': onError must be "fail" or "return".');
  };

  let steps;
  const stepName = (step, call) => {
    if (typeof step === "string") return step;
    if (typeof step === "function") {
      if (isObject(steps)) {
        const names = keys(steps);
        for (let n = 0; n < names.length; n++) if (steps[names[n]] === step) return names[n];
      }
      throw new GuestTypeError(call + ": the function is not one of the exported steps.");
    }
    throw new GuestTypeError(call + ": the first argument must be the name of a step, or its function.");
  };
  const checkStep = (step, call) => {
    const name = stepName(step, call);
    if (!isObject(steps) || !hasOwn(steps, name) || typeof steps[name] !== "function")
      throw new GuestTypeError(call + ": there is no step " + stringify(apply(slice, name, [0, 100])) + ".");
    return name;
  };

  /* The start of a step request, which stepRequest.ts reads: texts that may contain anything follow their lengths. */
  const requestStart = (call, kind, name, options) => {
    if (options === undefined) return kind + ":fail:" + name.length + ":-:" + name;
    const checked = checkOptions(call, options);
    const key = keyIn(call, checked);
    const mode = modeIn(call, checked);
    if (key === undefined) return kind + ":" + mode + ":" + name.length + ":-:" + name;
    return kind + ":" + mode + ":" + name.length + ":" + key.length + ":" + name + key;
  };
  /* Without the check of toJson a known request is found faster; a new one is checked before it is sent. */
  const answerStep = (start, value, concurrency, what, name, call) => {
    let json;
    try {
      json = stringify(value);
    } catch {}
    const known = json === undefined ? undefined : findAnswer(start + json);
    const answer = known === undefined ? requestStep(start + toJson(value, what + name + '"'), concurrency) : known;
    return toPromise(answer, call, name);
  };
  const runStep = (step, args, options) => {
    const name = checkStep(step, "runStep");
    const start = requestStart("runStep", "step", name, options);
    return answerStep(start, args === undefined ? {} : args, 0, 'The arguments of the step "', name, "runStep");
  };
  const runStepMany = (step, items, options) => {
    const name = checkStep(step, "runStepMany");
    const checked = checkOptions("runStepMany", options);
    if (!isArray(items)) throw new GuestTypeError("runStepMany: the items must be an array.");
    const { concurrency = 10 } = checked;
    if (typeof concurrency !== "number" || concurrency % 1 !== 0 || concurrency < 1 || concurrency > 50)
      throw new GuestTypeError("runStepMany: concurrency must be a whole number from 1 to 50.");
    const start = requestStart("runStepMany", "many", name, checked);
    return answerStep(start, items, concurrency, 'The items of the step "', name, "runStepMany");
  };
  const awaitApproval = (name, options) => {
    if (typeof name !== "string") throw new GuestTypeError("awaitApproval: the name must be a string.");
    const { key, ...terms } = checkOptions("awaitApproval", options);
    const json = toJson(terms, "The options of awaitApproval");
    return toPromise(request("approval", name, json, keyIn("awaitApproval", { key })), "awaitApproval", name);
  };
  const sleep = (duration, options) => {
    const json = toJson(duration, "sleep");
    return toPromise(request("sleep", "", json, keyIn("sleep", checkOptions("sleep", options))), "sleep");
  };
  const sleepUntil = (time, options) => {
    const json = toJson(time, "sleepUntil");
    return toPromise(request("sleepUntil", "", json, keyIn("sleepUntil", checkOptions("sleepUntil", options))), "sleepUntil");
  };
  ${LINK_GUEST}
  const complete = (result) => {
    toValue(request("complete", "", toJson(result, "The result of complete()")));
    return suspend("complete()", true);
  };
  const continueAs = (args) => {
    const json = toJson(args === undefined ? bare({}) : args, "The arguments of continueAs()");
    toValue(request("continueAs", stack(), json));
    return suspend("continueAs()", true);
  };
  const checkLabel = (call, label) => {
    if (typeof label !== "string") throw new GuestTypeError(call + ": the label must be a string.");
    return label;
  };
  const now = (label) => toValue(request("now", checkLabel("now", label)));
  const uuid = (label) => toValue(request("uuid", checkLabel("uuid", label)));
  const log = (...parts) => void request("log", logLine(parts));

  const calls = bare({ runStep, runStepMany, awaitApproval, startRun, waitForRun, waitForEvent, agent, complete, continueAs,
    sleep, sleepUntil, now, uuid, log });
  const ctx = {};
  for (const name in calls) {
    define(globalThis, name, calls[name]);
    ctx[name] = calls[name];
  }
  define(globalThis, "defineStep", defineStep);
  define(globalThis, "NonRetryableError", NonRetryableError);

  const refuseInRun = (name, instead) => () => {
    throw new GuestTypeError(name + "() is of steps: in run() use " + instead + ".");
  };
  define(globalThis, "setTimeout", refuseInRun("setTimeout", "sleep()"));
  define(globalThis, "clearTimeout", () => {});
  defineWeb(log, {
    randomUUID: refuseInRun("crypto.randomUUID", "uuid(label)"),
    getRandomValues: refuseInRun("crypto.getRandomValues", "uuid(label) or Math.random()"),
  });

  /* Runs before the script: the top level of the module can read these values too. */
  const prepare = (json) => {
    const { args, headers, runId, seed, ordered } = bare(parse(json));
    if (ordered === true) orderAnswers();
    define(Math, "random", seededRandom(seed));
    for (const [name, value] of [["args", args], ["runId", runId]]) {
      define(globalThis, name, value);
      ctx[name] = value;
    }
    ctx.headers = freeze(headers);
    freeze(ctx);
  };
  const start = async (module) => {
    steps = module.steps;
    if (typeof module.run !== "function") throw new GuestTypeError("A workflow exports a function run(ctx, args).");
    return module.run(ctx, ctx.args);
  };
  /* JSON of what run() threw: its description, and which signal it is or contains. */
  const describe = (error) => {
    const index = signalIndex(error);
    if (index !== null) return stringify(bare({ signal: index, ends: raised[index].ends }));
    let wraps = null;
    try {
      wraps = wrappedSignal(error);
    } catch {}
    return stringify(bare({ signal: null, ends: false, wraps, error: describeThrown(error) }));
  };
  const resultJson = (value) => toJson(value, "The result of run()");
  const allSignals = () => {
    const list = bare([]);
    for (let n = 0; n < raised.length; n++) list[n] = bare({ call: raised[n].call, ends: raised[n].ends, stack: raised[n].stack, lost: raised[n].lost });
    return stringify(list);
  };
  const signalAt = (n) => raised[n].signal;
  const stack = () => readText(() => new GuestError().stack, 20000) ?? "";
  return [prepare, start, describe, resultJson, allSignals, signalAt, stack, deliver];
}`;
