import { afterEach, expect, test, vi } from "vitest";
import { NO_OUTPUT } from "#events/thread.ts";
import { AnswerInterrupted, type ModelAnswer } from "./askModel.ts";
import { askThroughCircuit } from "./askThroughCircuit.ts";
import { circuitKey, createCircuits } from "./circuits.ts";
import { ModelError } from "./model.ts";

const ANSWER = { output: { ...NO_OUTPUT, text: "Hello" } } as ModelAnswer;
const answering = vi.fn<() => Promise<ModelAnswer>>(async () => ANSWER);
const failing = (cause: Error, output = NO_OUTPUT) =>
  vi.fn<() => Promise<ModelAnswer>>(() => Promise.reject(new AnswerInterrupted(output, cause)));
const withStatus = (status: number, retry_after_ms?: number) =>
  new ModelError(
    [408, 409, 429].includes(status) || status >= 500 ? "transient" : "refused",
    `The provider answered ${status}.`,
    {
      status,
      ...(retry_after_ms !== undefined && { retry_after_ms }),
    },
  );
const unreachable = () => new ModelError("transient", "The provider could not be reached.");

const MODEL = { organization_id: "one", name: "p/a", signal: new AbortController().signal };

function start() {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout"] });
  const circuits = createCircuits();
  const { signal } = new AbortController();
  const asking = (ask: () => Promise<ModelAnswer>, organization_id = "one", name = "p/a") =>
    askThroughCircuit(circuits, { organization_id, name, signal, left_ms: 20_000 }, ask);
  const messageOf = (ask: () => Promise<ModelAnswer>, organization?: string, name?: string) =>
    asking(ask, organization, name).then(
      ({ output }) => output.text,
      (error: Error) => error.message,
    );
  const fail = async (cause: Error, times = 3) => {
    for (let n = 0; n < times; n++) expect(await messageOf(failing(cause))).toBe(cause.message);
  };
  return { circuits, messageOf, fail, pass: (seconds: number) => vi.advanceTimersByTime(seconds * 1_000) };
}
afterEach(() => void vi.useRealTimers());

test("a model that failed three times in a row is not asked, and the refusal contains the time of the next try", async () => {
  const { circuits, messageOf, fail, pass } = start();
  await fail(withStatus(503));
  pass(4);
  answering.mockClear();
  expect(await messageOf(answering)).toBe(
    "The model p/a is down: its last requests failed (503). It is asked again in 11 s.",
  );
  expect(answering).not.toHaveBeenCalled();
  const refused = askThroughCircuit(circuits, { ...MODEL, left_ms: 20_000 }, answering);
  await expect(refused).rejects.toMatchObject({ cause: { retry_after_ms: 11_000 } });
  expect(await messageOf(answering, "two")).toBe("Hello");
  expect(await messageOf(answering, "one", "p/b")).toBe("Hello");
});

test("then one request at a time finds out whether it is well again", async () => {
  const { messageOf, fail, pass } = start();
  await fail(unreachable());
  pass(15);
  const probe = Promise.withResolvers<ModelAnswer>();
  const probing = messageOf(() => probe.promise);
  expect(await messageOf(answering)).toBe(
    "The model p/a is down: its last requests failed (connection). It is being asked again now.",
  );
  probe.reject(new AnswerInterrupted(NO_OUTPUT, unreachable()));
  await probing;
  pass(29);
  expect(await messageOf(answering)).toContain("in 1 s.");
  pass(1);
  expect(await messageOf(answering)).toBe("Hello");
  await fail(unreachable(), 2);
  expect(await messageOf(answering)).toBe("Hello");
});

test.each([400, 401, 404, 409, 429])("a model that answers %d is not down", async (status) => {
  const { fail, messageOf } = start();
  await fail(withStatus(status, 60_000), 4);
  expect(await messageOf(answering)).toBe("Hello");
});

test("a single error does not refuse other requests, whatever wait it asks for", async () => {
  const { fail, messageOf } = start();
  await fail(withStatus(503, 60_000), 2);
  expect(await messageOf(answering)).toBe("Hello");
});

test("an answer that broke off, or does not come from the provider, is no sign of an outage", async () => {
  const { circuits, fail, messageOf, pass } = start();
  await fail(new ModelError("cut", "The provider broke off."), 4);
  await fail(new Error("a bug"), 4);
  for (let n = 0; n < 12; n++) {
    const broken = slow(20, pass, () => {});
    await askThroughCircuit(circuits, { ...MODEL, left_ms: 20_000 }, broken).catch(() => {});
  }
  expect(await messageOf(answering)).toBe("Hello");
});

const slow =
  (seconds: number, pass: (seconds: number) => void, end: () => void, output = NO_OUTPUT) =>
  async () => {
    pass(seconds);
    end();
    throw new AnswerInterrupted(output, new Error("aborted"), undefined, output !== NO_OUTPUT);
  };

test.each([
  [
    "a model is down if turns end after a minute of its silence",
    "late",
    60,
    NO_OUTPUT,
    "is down: its last requests failed (timeout)",
  ],
  ["a model is not down if turns end after less than a minute of its silence", "late", 59, NO_OUTPUT, "Hello"],
  ["a model is not down if it had begun to answer", "late", 600, ANSWER.output, "Hello"],
  ["a silent model is not down if the reader left", "stopped", 600, NO_OUTPUT, "Hello"],
])("%s", async (_, reason, seconds, output, expected) => {
  const { circuits, messageOf, pass } = start();
  for (let n = 0; n < 3; n++) {
    const own = new AbortController();
    const ask = slow(seconds, pass, () => own.abort(reason), output);
    await askThroughCircuit(
      circuits,
      { organization_id: "one", name: "p/a", signal: own.signal, left_ms: seconds * 1_000 },
      ask,
    ).catch(() => {});
  }
  expect(await messageOf(answering)).toContain(expected);
});

test("turns that have less than a minute find out together that a model is silent, and a turn with more time is not refused for that", async () => {
  const { circuits, messageOf, pass } = start();
  const silent = async (seconds: number) => {
    const own = new AbortController();
    const ask = vi.fn(slow(seconds, pass, () => own.abort("late")));
    const model = { organization_id: "one", name: "p/a", signal: own.signal, left_ms: seconds * 1_000 };
    await askThroughCircuit(circuits, model, ask).catch(() => {});
    return ask.mock.calls.length;
  };
  const asked = [];
  for (let n = 0; n < 12; n++) asked.push(await silent(20));
  expect(asked).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  expect(await messageOf(answering)).toContain("is down: its last requests failed (timeout)");
  const patient = { organization_id: "one", name: "p/a", signal: new AbortController().signal, left_ms: 300_000 };
  expect(await askThroughCircuit(circuits, patient, answering)).toBe(ANSWER);
  expect(await messageOf(answering)).toBe("Hello");
});

test("circuits are shared with aliases: a target that is down is refused, one that is busy or slow is asked", async () => {
  const { circuits, messageOf } = start();
  const alias = (name: string, ...[outcome, failure]: Parameters<ReturnType<typeof circuits.begin>>) =>
    circuits.begin(circuitKey("one", name))(outcome, failure);
  for (let n = 0; n < 3; n++) alias("p/down", "failed", { reason: "503", isDown: true });
  alias("p/busy", "failed", { reason: "429", retry_after_ms: 60_000 });
  alias("p/slow", "slow", { reason: "timeout" });
  expect(await messageOf(answering, "one", "p/down")).toContain("is down");
  for (const name of ["p/busy", "p/slow"]) expect(await messageOf(answering, "one", name)).toBe("Hello");
  expect(circuits.state(circuitKey("one", "p/busy"))).toBe("open");
  expect(circuits.state(circuitKey("one", "p/slow"))).toBe("silent");
});
