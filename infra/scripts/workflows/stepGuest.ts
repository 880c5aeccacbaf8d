import { GUEST } from "./guest.ts";

/**
 * What a step finds around it: what it may ask of the platform, each by one host function that takes and gives JSON. A function
 * of the host functions, which gives `[prepare, execute, tell, inspect, executeNow]`.
 */
export const STEP_GUEST = `(ask, note, came) => {
  ${GUEST}
  /* What the host refused, so that it is known again when nobody has caught it. */
  const refused = new WeakMap();
  const asked = async (what, json) => {
    // made here, where the script's own lines are on the stack
    const error = new Failure();
    const answer = bare(parse(await ask(what, json)));
    if (answer.ok) return answer.value;
    const { message, code, final } = answer.error;
    give(error, "message", message);
    give(error, "code", code);
    give(error, "final", final);
    apply(mapSet, refused, [error, answer.error]);
    throw error;
  };
  const find = (headers, name) => {
    const wanted = apply(toLowerCase, text(name), []);
    for (let n = 0; n < headers.length; n++) if (headers[n][0] === wanted) return headers[n][1];
    return null;
  };
  const listed = (given) => {
    const headers = bare([]);
    const pairs = given === undefined || given === null ? [] : isArray(given) ? given : entries(given);
    for (let n = 0; n < pairs.length; n++) headers[n] = bare([text(pairs[n][0]), text(pairs[n][1])]);
    return headers;
  };
  const plain = (value) => (value === undefined || value === null ? null : text(value));
  const fetch = async (url, init) => {
    const { method, headers, body } = init ?? {};
    const sent = bare({ url: text(url), method: plain(method) ?? "GET", headers: listed(headers), body: plain(body) });
    const answer = await asked("fetch", stringify(sent));
    return freeze({
      status: answer.status,
      ok: answer.status >= 200 && answer.status < 300,
      headers: freeze({ get: (name) => find(answer.headers, name) }),
      text: async () => answer.body,
      json: async () => parse(answer.body),
    });
  };
  const call = (what) => async (input) => asked(what, jsonOf(input, "What is asked of " + what));
  const log = (...parts) => void note(line(parts));
  const nested = (name) => () => {
    const error = new Failure(name + "() is called by run(), not by a step.");
    apply(mapSet, refused, [error, bare({ code: "nested_step", final: true })]);
    throw error;
  };
  const outside = bare({});
  for (const name of ["runStep", "runStepMany", "awaitApproval", "complete", "sleep", "sleepUntil", "now", "uuid"]) outside[name] = nested(name);
  for (const name in outside) give(globalThis, name, outside[name]);
  give(globalThis, "log", log);
  give(globalThis, "defineStep", defineStep);
  give(globalThis, "NonRetryableError", NonRetryableError);

  /* Before the script. */
  const prepare = (seed) => give(Math, "random", chance(parse(seed)));
  const execute = async (module, name, input) => {
    const { args, context } = bare(parse(input));
    const { steps } = module;
    const work = isObject(steps) && hasOwn(steps, name) ? steps[name] : undefined;
    if (typeof work !== "function") {
      const error = new Failure("There is no step " + stringify(apply(slice, name, [0, 100])) + ".");
      apply(mapSet, refused, [error, bare({ code: "unknown_step", final: true })]);
      throw error;
    }
    const tools = freeze({ call: async (tool, given) => call("tool")({ name: tool, args: given === undefined ? {} : given }) });
    const ctx = freeze({
      ...outside,
      ...context,
      secrets: freeze({ get: async (secret) => asked("secret", text(secret)) }),
      fetch,
      chat: call("chat"),
      agents: freeze({ run: call("agent") }),
      knowledge: freeze({ search: call("search"), read: call("read") }),
      tools,
      log,
      NonRetryableError,
    });
    const result = await work(args, ctx);
    try {
      return jsonOf(result, "The result of the step");
    } catch (error) {
      if (error instanceof Wrong) apply(mapSet, refused, [error, bare({ final: true })]);
      throw error;
    }
  };
  /* Tells what a step came to, once it has. */
  const executeNow = async (module, name, input) => came(await execute(await module, name, input));
  /* JSON of what a step threw. */
  const tell = (error) => {
    const thrown = told(error);
    const known = isObject(error) && apply(mapHas, refused, [error]) ? apply(mapGet, refused, [error]) : bare({});
    thrown.code = known.code ?? null;
    thrown.final = known.final === true || thrown.name === "NonRetryableError";
    thrown.retryAfter = isObject(error) ? number(() => error.retryAfter) : null;
    return stringify(thrown);
  };
  /* JSON of what a module says of itself. */
  const inspect = (module) => {
    const { meta, steps, run } = module;
    const found = bare([]);
    if (isObject(steps)) {
      const all = keys(steps);
      for (let n = 0; n < all.length; n++) {
        const step = steps[all[n]];
        const callable = typeof step === "function";
        const settings = callable && apply(mapHas, settingsOf, [step]) ? apply(mapGet, settingsOf, [step]) : {};
        found[n] = bare({ name: all[n], callable, settings: parse(jsonOf(settings, "The settings of the step " + all[n])) });
      }
    }
    return stringify(bare({
      meta: meta === undefined ? null : parse(jsonOf(meta, "meta")),
      runs: typeof run === "function",
      steps: steps === undefined || isObject(steps) ? found : null,
    }));
  };
  return [prepare, execute, tell, inspect, executeNow];
}`;
