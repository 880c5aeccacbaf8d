/** The functions of `run()` whose answers come from elsewhere: other runs, events and agents. Part of TICK_GUEST. */
export const LINK_GUEST = `
  const startRun = (workflow, args, options) => {
    if (typeof workflow !== "string") throw new GuestTypeError("startRun: the first argument is the id or the name of a workflow.");
    const { key, ...more } = checkOptions("startRun", options);
    checkNames("startRun", more, ["on_parent_end"]);
    const call = bare({ workflow, args: args === undefined ? bare({}) : args, on_parent_end: more.on_parent_end });
    const json = toJson(call, "The arguments of startRun");
    return toPromise(request("startRun", "", json, keyIn("startRun", { key })), "startRun", workflow);
  };
  const waitForRun = (run, options) => {
    const { key, ...more } = checkOptions("waitForRun", options);
    checkNames("waitForRun", more, ["timeout"]);
    const json = toJson(bare({ run_id: isObject(run) ? run.run_id : run, timeout: more.timeout }), "waitForRun");
    return toPromise(request("waitForRun", "", json, keyIn("waitForRun", { key })), "waitForRun");
  };
  const waitForEvent = (name, options) => {
    if (typeof name !== "string") throw new GuestTypeError("waitForEvent: the first argument is the name of an event.");
    const { key, ...more } = checkOptions("waitForEvent", options);
    checkNames("waitForEvent", more, ["match", "timeout"]);
    const json = toJson(bare({ name, match: more.match, timeout: more.timeout }), "The options of waitForEvent");
    return toPromise(request("waitForEvent", "", json, keyIn("waitForEvent", { key })), "waitForEvent", name);
  };
  const agent = (name, input, options) => {
    if (typeof name !== "string") throw new GuestTypeError("agent: the first argument is the id or the name of an agent.");
    const { key, onError, ...more } = checkOptions("agent", options);
    checkNames("agent", more, ["vars", "thread_id"]);
    const call = bare({ agent: name, input, vars: more.vars, thread_id: more.thread_id, mode: modeIn("agent", { onError }) });
    const json = toJson(call, "The input of agent");
    return toPromise(request("agent", "", json, keyIn("agent", { key })), "agent", name);
  };
`;
