import { GUEST } from "./guest.ts";

/**
 * What `run()` finds around it. Each call asks the host, which answers with JSON of what the call came to, with nothing where it
 * has come to nothing yet, or with "!" and JSON of why it cannot be. A function of the host functions, which gives
 * `[prepare, begin, tell, said, raised, raisedAt]`.
 */
export const TICK_GUEST = `(look, askStep, ask) => {
  ${GUEST}
  /* Signals that suspend run(), in the order in which they were raised. */
  const raised = bare([]);
  const places = new WeakMap();
  class WorkflowSuspend extends Failure {
    get name() {
      return "WorkflowSuspend";
    }
  }
  const suspend = (call, ends) => {
    const signal = new WorkflowSuspend(call + (ends ? " ends run()." : " suspends run() until it has come to something."));
    const n = raised.length;
    raised[n] = bare({ signal, call, ends, stack: words(() => signal.stack, 20000) });
    apply(mapSet, places, [signal, n]);
    return rejected(signal);
  };
  const placeOf = (error) => (isObject(error) && apply(mapHas, places, [error]) ? apply(mapGet, places, [error]) : null);
  /* Which signal an error holds, as its cause or among those that it gathers. */
  const wrappedIn = (error) => {
    let inner = error;
    for (let n = 0; n < 10 && isObject(inner); n++) {
      const place = placeOf(inner);
      if (place !== null) return place;
      if (isArray(inner.errors)) for (let m = 0; m < inner.errors.length && m < 1000; m++) {
        const among = placeOf(inner.errors[m]);
        if (among !== null) return among;
      }
      inner = inner.cause;
    }
    return null;
  };
  const refusal = (answer) => {
    const { code, message } = bare(parse(apply(slice, answer, [1])));
    if (code === undefined) return new Wrong(message);
    const failed = new Failure(message);
    failed.code = code;
    return failed;
  };
  const isRefused = (answer) => typeof answer === "string" && answer[0] === "!";
  const answered = (answer, call, name) => {
    if (answer === undefined) return suspend(call + (name === undefined ? "()" : '("' + name + '")'), false);
    if (!isRefused(answer)) return resolved(parse(answer));
    const error = refusal(answer);
    if (error.code === undefined) throw error;
    return rejected(error);
  };
  const atOnce = (answer) => {
    if (isRefused(answer)) throw refusal(answer);
    return parse(answer);
  };
  const optionsFor = (call, given) => {
    if (given === undefined || given === null) return bare({});
    if (typeof given !== "object") throw new Wrong(call + ": the options must be an object.");
    return given;
  };
  const keyIn = (call, { key }) => {
    if (key === undefined || key === null) return undefined;
    if (typeof key !== "string" && typeof key !== "number") throw new Wrong(call + ": key must be a string or a number.");
    return text(key);
  };
  const modeIn = (call, { onError }) => {
    if (onError === undefined || onError === "fail" || onError === "return") return onError === "return" ? "return" : "fail";
    throw new Wrong(call + ': onError must be "fail" or "return".');
  };

  let steps;
  const nameOf = (step, call) => {
    if (typeof step === "string") return step;
    if (typeof step === "function") {
      if (isObject(steps)) {
        const all = keys(steps);
        for (let n = 0; n < all.length; n++) if (steps[all[n]] === step) return all[n];
      }
      throw new Wrong(call + ": the function is none of the exported steps.");
    }
    throw new Wrong(call + ": a step is told by its name or by its function.");
  };
  const stepNamed = (step, call) => {
    const name = nameOf(step, call);
    if (!isObject(steps) || !hasOwn(steps, name) || typeof steps[name] !== "function")
      throw new Wrong(call + ": there is no step " + stringify(apply(slice, name, [0, 100])) + ".");
    return name;
  };

  /* A call of a step in one string: its parts after their lengths, then JSON. */
  const saying = (call, kind, name, options) => {
    if (options === undefined) return kind + ":fail:" + name.length + ":-:" + name;
    const given = optionsFor(call, options);
    const key = keyIn(call, given);
    const mode = modeIn(call, given);
    if (key === undefined) return kind + ":" + mode + ":" + name.length + ":-:" + name;
    return kind + ":" + mode + ":" + name.length + ":" + key.length + ":" + name + key;
  };
  /* What is known is answered at once; else the value is looked at more closely before it is asked for. */
  const asked = (start, value, concurrency, what, name, call) => {
    let json;
    try {
      json = stringify(value);
    } catch {}
    const known = json === undefined ? undefined : look(start + json);
    const answer = known === undefined ? askStep(start + jsonOf(value, what + name + '"'), concurrency) : known;
    return answered(answer, call, name);
  };
  const runStep = (step, args, options) => {
    const name = stepNamed(step, "runStep");
    const start = saying("runStep", "step", name, options);
    return asked(start, args === undefined ? {} : args, 0, 'The arguments of the step "', name, "runStep");
  };
  const runStepMany = (step, items, options) => {
    const name = stepNamed(step, "runStepMany");
    const given = optionsFor("runStepMany", options);
    if (!isArray(items)) throw new Wrong("runStepMany: the items must be an array.");
    const { concurrency = 10 } = given;
    if (typeof concurrency !== "number" || concurrency % 1 !== 0 || concurrency < 1 || concurrency > 50)
      throw new Wrong("runStepMany: concurrency must be a whole number from 1 to 50.");
    return asked(saying("runStepMany", "many", name, given), items, concurrency, 'The items of the step "', name, "runStepMany");
  };
  const awaitApproval = (name, options) => {
    if (typeof name !== "string") throw new Wrong("awaitApproval: the name must be a string.");
    const { key, ...terms } = optionsFor("awaitApproval", options);
    const json = jsonOf(terms, "The options of awaitApproval");
    return answered(ask("approval", name, json, keyIn("awaitApproval", { key })), "awaitApproval", name);
  };
  const sleep = (duration, options) => {
    const json = jsonOf(duration, "sleep");
    return answered(ask("sleep", "", json, keyIn("sleep", optionsFor("sleep", options))), "sleep");
  };
  const sleepUntil = (time, options) => {
    const json = jsonOf(time, "sleepUntil");
    return answered(ask("until", "", json, keyIn("sleepUntil", optionsFor("sleepUntil", options))), "sleepUntil");
  };
  const complete = (result) => {
    atOnce(ask("complete", "", jsonOf(result, "The result of complete()")));
    return suspend("complete()", true);
  };
  const labelOf = (call, label) => {
    if (typeof label !== "string") throw new Wrong(call + ": the label must be a string.");
    return label;
  };
  const now = (label) => atOnce(ask("now", labelOf("now", label)));
  const uuid = (label) => atOnce(ask("uuid", labelOf("uuid", label)));
  const log = (...parts) => void ask("log", line(parts));

  const calls = bare({ runStep, runStepMany, awaitApproval, complete, sleep, sleepUntil, now, uuid, log });
  const ctx = {};
  for (const name in calls) {
    give(globalThis, name, calls[name]);
    ctx[name] = calls[name];
  }
  give(globalThis, "defineStep", defineStep);
  give(globalThis, "NonRetryableError", NonRetryableError);

  /* Before the script: what its own top level may look at. */
  const prepare = (json) => {
    const { args, runId, seed } = bare(parse(json));
    give(Math, "random", chance(seed));
    for (const [name, value] of [["args", args], ["runId", runId]]) {
      give(globalThis, name, value);
      ctx[name] = value;
    }
    freeze(ctx);
  };
  const begin = async (module) => {
    steps = module.steps;
    if (typeof module.run !== "function") throw new Wrong("A workflow exports a function run(ctx, args).");
    return module.run(ctx, ctx.args);
  };
  /* JSON of what run() threw: words, and which signal it is or holds. */
  const tell = (error) => {
    const place = placeOf(error);
    if (place !== null) return stringify(bare({ signal: place, ends: raised[place].ends }));
    let wraps = null;
    try {
      wraps = wrappedIn(error);
    } catch {}
    return stringify(bare({ signal: null, ends: false, wraps, error: told(error) }));
  };
  const said = (value) => jsonOf(value, "The result of run()");
  const raisedAll = () => {
    const list = bare([]);
    for (let n = 0; n < raised.length; n++) list[n] = bare({ call: raised[n].call, ends: raised[n].ends, stack: raised[n].stack });
    return stringify(list);
  };
  const raisedAt = (n) => raised[n].signal;
  return [prepare, begin, tell, said, raisedAll, raisedAt];
}`;
