import { isUuid } from "#events/ids.ts";
import { isObject } from "#events/json.ts";
import { answerOrThrow, answerStep, type Answer } from "./callAnswers.ts";
import { checkLabel, InvalidOption, parseDuration } from "./callOptions.ts";
import { checkFits, MAX_ARGS } from "./limits.ts";
import { countCall, findOrAddCall, type TickState } from "./tickState.ts";

/* Calls of `run()` that start other runs, ask agents, or wait for either. The guest sends their arguments as one JSON object. */

const PARENT_ENDS = ["cancel", "leave"] as const;
export type OnParentEnd = (typeof PARENT_ENDS)[number];

export function parseOnParentEnd(value: unknown): OnParentEnd {
  const found = PARENT_ENDS.find((each) => each === value);
  if (found) return found;
  throw new InvalidOption('startRun: on_parent_end must be "cancel" or "leave".');
}

/** Milliseconds; null for no timeout. */
const parseTimeout = (call: string, value: unknown): number | null =>
  value === undefined || value === null ? null : parseDuration(`${call}: timeout`, value);

const requestText = (kind: string, userKey: string | null, json: string): string =>
  `${kind}:${JSON.stringify(userKey)}${json}`;

/** `json`: `{workflow, args, on_parent_end}`. */
export function requestChildRun(state: TickState, json: string, userKey: string | null): Answer {
  checkFits("The arguments of startRun", json, MAX_ARGS);
  const { workflow, args, on_parent_end } = JSON.parse(json) as Record<string, unknown>;
  const name = checkLabel("startRun: the workflow", String(workflow));
  if (!isObject(args)) throw new InvalidOption("startRun: the arguments must be an object.");
  const end = parseOnParentEnd(on_parent_end ?? "cancel");
  const request = requestText("child-run", userKey, json);
  const structure = JSON.stringify({ args, on_parent_end: end });
  const call = findOrAddCall(state, { kind: "child-run", name, userKey, args: structure, request });
  if (countCall(state, call) && !call.value)
    state.requested.push({
      kind: "child",
      key: call.key,
      workflow: name,
      args: JSON.stringify(args),
      on_parent_end: end,
    });
  return answerOrThrow(call);
}

/** JSON of the arguments of continueAs. */
export function checkNextArgs(json: string): string {
  checkFits("The arguments of continueAs", json, MAX_ARGS);
  if (!isObject(JSON.parse(json))) throw new InvalidOption("continueAs: the arguments must be an object.");
  return json;
}

const MAX_MATCH_FIELDS = 20;

/** Required values of a message's top-level fields: texts, numbers, true, false or null. */
export function parseMatch(value: unknown): Record<string, unknown> {
  const isSimple = (one: unknown) => one === null || ["string", "number", "boolean"].includes(typeof one);
  if (!isObject(value) || !Object.values(value).every(isSimple) || Object.keys(value).length > MAX_MATCH_FIELDS)
    throw new InvalidOption(
      `waitForEvent: match must be an object of at most ${MAX_MATCH_FIELDS} texts, numbers, true, false or null.`,
    );
  return value;
}

/** `json`: `{name, match, timeout}`. */
export function requestMessageWait(state: TickState, json: string, userKey: string | null): Answer {
  checkFits("The options of waitForEvent", json, MAX_ARGS);
  const { name: label, match: given, timeout } = JSON.parse(json) as Record<string, unknown>;
  const name = checkLabel("waitForEvent: the name", String(label));
  const match = parseMatch(given ?? {});
  const timeout_ms = parseTimeout("waitForEvent", timeout);
  const request = requestText("message-wait", userKey, json);
  const structure = JSON.stringify({ match, timeout_ms });
  const call = findOrAddCall(state, { kind: "message-wait", name, userKey, args: structure, request });
  if (countCall(state, call) && !call.value)
    state.requested.push({ kind: "messageWait", key: call.key, name, match, timeout_ms });
  return answerOrThrow(call);
}

/** `json`: `{run_id, timeout}`. */
export function requestRunWait(state: TickState, json: string, userKey: string | null): Answer {
  const { run_id, timeout } = JSON.parse(json) as Record<string, unknown>;
  if (typeof run_id !== "string" || !isUuid(run_id))
    throw new InvalidOption("waitForRun: the first argument is the id of a run, or what startRun returns.");
  const id = run_id.toLowerCase();
  const timeout_ms = parseTimeout("waitForRun", timeout);
  const request = requestText("run-wait", userKey, json);
  const structure = JSON.stringify({ timeout_ms });
  const call = findOrAddCall(state, { kind: "run-wait", name: id, userKey, args: structure, request });
  if (countCall(state, call) && !call.value)
    state.requested.push({ kind: "runWait", key: call.key, run_id: id, timeout_ms });
  return answerOrThrow(call);
}

const MAX_VARS = 32;

/** The input of an agent's turn: a text, or messages. Each message is checked before the turn starts. */
function parseAgentInput(value: unknown): unknown {
  const isText = typeof value === "string" && value.trim() !== "";
  if (isText || (Array.isArray(value) && value.length > 0)) return value;
  throw new InvalidOption("agent: the input must be a text, or a list of messages.");
}

export function parseVars(value: unknown): Record<string, unknown> {
  if (isObject(value) && Object.keys(value).length <= MAX_VARS) return value;
  throw new InvalidOption(`agent: vars must be an object of at most ${MAX_VARS} keys.`);
}

export function parseThreadId(value: unknown): string {
  if (typeof value === "string" && isUuid(value)) return value.toLowerCase();
  throw new InvalidOption("agent: thread_id must be the thread_id of an earlier answer.");
}

/** `json`: `{agent, input, vars, thread_id, mode}`. */
export function requestAgentTurn(state: TickState, json: string, userKey: string | null): Answer {
  checkFits("The input of agent", json, MAX_ARGS);
  const { agent, input, vars, thread_id, mode } = JSON.parse(json) as Record<string, unknown>;
  const name = checkLabel("agent: the agent", String(agent));
  const structure = JSON.stringify({
    input: parseAgentInput(input),
    vars: parseVars(vars ?? {}),
    thread_id: thread_id == null ? null : parseThreadId(thread_id),
  });
  const request = requestText("agent", userKey, json);
  const call = findOrAddCall(state, { kind: "agent", name, userKey, args: structure, request });
  if (countCall(state, call) && !call.value)
    state.requested.push({ kind: "agent", key: call.key, agent: name, ...agentRequest(structure) });
  return answerStep(call, mode === "return" ? "return" : "fail");
}

function agentRequest(structure: string): { request: string; thread_id: string | null } {
  const { thread_id, ...request } = JSON.parse(structure) as { thread_id: string | null };
  return { request: JSON.stringify(request), thread_id };
}
