import { beforeEach, describe, expect, test } from "vitest";
import { heard, newScenario, THREAD, turn } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => (scenario = newScenario()));

test("a journal that agrees with the log has no finding", () => {
  turn(scenario, "a", "1");
  scenario.operation("chat", "1", heard("a"));
  scenario.event("FileUploaded", "file-f", "2", { scope: "key:k" });
  scenario.operation("file.upload", "2", { asked: { sha256: "x" }, got: { file_id: "f" } }, [null, 201]);
  scenario.operation("file.read", "3", { asked: { file_id: "f" }, got: { sha256: "x" } });
  scenario.operation("thread.read", "4", {
    asked: { thread: "t" },
    got: { messages: [{ role: "assistant", content: "a" }] },
  });
  scenario.event("ThreadDeleted", THREAD, "5");
  scenario.operation("thread.delete", "5", { asked: { thread: "t" } });
  scenario.operation("thread.read", "6", { asked: { thread: "t" }, outcome: "refused" }, [404]);
  expect(scenario.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("an acknowledged upload that is missing in the log", () => {
    scenario.operation("file.upload", "1", { asked: { sha256: "x" }, got: { file_id: "f" } }, [201]);
    expect(scenario.findings()).toEqual(["lost I1"]);
  });

  test("an answered turn that is missing in the log", () => {
    scenario.operation("chat", "1", heard("a"));
    expect(scenario.findings()).toEqual(["lost I1"]);
  });

  test("an event of a refused request", () => {
    scenario.event("KeyCreated", "key-k", "1");
    scenario.operation("key.create", "1", { outcome: "refused" }, [400]);
    expect(scenario.findings()).toEqual(["different I2"]);
  });

  test("two turns under one key", () => {
    turn(scenario, "a", "1");
    turn(scenario, "b", "1", "b", 1);
    scenario.operation("chat", "1", heard("b"), [null, 200]);
    expect(scenario.findings()).toEqual(["doubled I3"]);
  });

  test("records of an attempt at a turn after another attempt has taken it over", () => {
    const data = { turn_id: "a" };
    scenario.event("TurnStarted", THREAD, "1", data, { input: {} });
    scenario.event("RoundRequested", THREAD, "1", { ...data, attempt: 1 });
    scenario.event("TurnTakenOver", THREAD, "1", { ...data, attempt: 2 });
    scenario.event("TurnCompleted", THREAD, "1", { ...data, attempt: 2 }, { said: { text: "a" } });
    expect(scenario.findings()).toEqual([]);
    scenario.event("ToolFinished", THREAD, "1", { ...data, attempt: 1, round: 1, call: 1 });
    expect(scenario.findings()).toEqual(["doubled I9"]);
  });

  test.each([
    ["stop", "postgres", []],
    ["slow", "postgres", []],
    ["kill", "postgres", ["doubled I3 without a key"]],
    ["stop", "nats", ["doubled I3 without a key"]],
  ])("a second turn after a retry during the fault %s %s: %j", (what, target, expected) => {
    scenario.fault(target, what);
    turn(scenario, "a", "1");
    turn(scenario, "b", "1", "b", 1);
    scenario.operation("chat", "1", { ...heard("b"), keyed: false }, [null, 200]);
    expect(scenario.findings()).toEqual(expected);
  });

  test("a second turn after a retry that should have joined the first, but none after a retry of an answered turn", () => {
    turn(scenario, "a", "1");
    turn(scenario, "b", "1", "b", 1);
    scenario.operation("chat", "1", { ...heard("b"), keyed: false }, [null, 200]);
    turn(scenario, "c", "2");
    turn(scenario, "d", "2", "d", 1);
    scenario.operation("chat", "2", { ...heard("d"), keyed: false }, [502, 200]);
    expect(scenario.findings()).toEqual(["doubled I3 without a key"]);
  });

  test("a command with two sets of events", () => {
    scenario.event("FileUploaded", "file-f", "1", { scope: "key:k" });
    scenario.event("KeyCreated", "key-k", "2");
    scenario.event("FileUploaded", "file-f", "1", { scope: "key:k" });
    expect(scenario.findings()).toEqual(["doubled I5"]);
  });

  test("a turn that never ended, and a turn that began before it did", () => {
    scenario.event("TurnStarted", THREAD, "1", { turn_id: "a" }, { input: { prompt: { messages: [] } } });
    turn(scenario, "b", "2");
    expect(scenario.findings()).toEqual(["different I9", "stuck I8"]);
  });

  test("an answer that differs from the stored text", () => {
    turn(scenario, "a", "1", "stored");
    scenario.operation("chat", "1", heard("a", "said"));
    expect(scenario.findings()).toEqual(["different I11"]);
  });

  test("a thread without an answer that it should contain, and a thread that is not found", () => {
    turn(scenario, "a", "1");
    scenario.operation("chat", "1", heard("a"));
    scenario.operation("thread.read", "2", { asked: { thread: "t" }, got: { messages: [] } });
    scenario.operation("thread.read", "3", { asked: { thread: "t" }, outcome: "refused" }, [404]);
    expect(scenario.findings()).toEqual(["lost I16", "lost I16"]);
  });

  test("a file that is returned after its deletion, or with other bytes", () => {
    scenario.event("FileUploaded", "file-f", "1", { scope: "key:k" });
    scenario.operation("file.upload", "1", { asked: { sha256: "x" }, got: { file_id: "f" } }, [201]);
    scenario.operation("file.read", "2", { asked: { file_id: "f" }, got: { sha256: "y" } });
    scenario.event("FileDeleted", "file-f", "3");
    scenario.operation("file.delete", "3", { asked: { file_id: "f" } });
    scenario.operation("file.read", "4", { asked: { file_id: "f" }, got: { sha256: "x" } });
    scenario.operation("file.list", "6", { got: { files: ["f"] } });
    expect(scenario.findings()).toEqual(["different I12", "different I16", "different I16"]);
  });

  test("a key that works after its deletion, and a session that does not work", () => {
    scenario.event("KeyCreated", "key-k", "1");
    scenario.operation("key.create", "1", { got: { key_id: "k" } }, [201]);
    scenario.event("KeyDeleted", "key-k", "2");
    scenario.operation("key.delete", "2", { asked: { key_id: "k" } });
    scenario.operation("key.use", "3", { asked: { key_id: "k" } });
    scenario.event("SessionStarted", "session-s", "4");
    scenario.operation("login", "4", { got: { token: "s" } });
    scenario.operation("session.use", "5", { asked: { token: "s" }, outcome: "refused" }, [401]);
    expect(scenario.findings()).toEqual(["different I16", "lost I16"]);
  });

  test("an agent that answers after its API was disabled", () => {
    const asked = { agent_id: "a" };
    for (const [id, what] of Object.entries({ 1: "agent.enable", 2: "agent.disable" } as const)) {
      scenario.event("AgentChanged", "agent-a", id);
      scenario.operation(what, id, { asked });
    }
    const used = { asked, outcome: "refused" } as const;
    scenario.operation("agent.use", "3", { ...used, code: "agent_api_disabled" }, [403]);
    expect(scenario.findings()).toEqual([]);
    scenario.operation("agent.use", "4", { ...used, code: "response_not_found" }, [404]);
    expect(scenario.findings()).toEqual(["different I16"]);
  });

  test("a provider that differs from its last update", () => {
    for (const [id, models] of Object.entries({ 1: ["a"], 2: ["b"] })) {
      scenario.event("ProviderConfigured", "provider-p", id);
      scenario.operation("provider.put", id, { asked: { name: "p", models } });
    }
    scenario.operation("provider.read", "3", { asked: { name: "p" }, got: { models: ["a"] } });
    expect(scenario.findings()).toEqual(["different I16"]);
  });
});
