import { beforeEach, describe, expect, test } from "vitest";
import { heard, story, THREAD, turn } from "./story.ts";

let told: ReturnType<typeof story>;
beforeEach(() => (told = story()));

test("a story without a fault has no finding", () => {
  turn(told, "a", "1");
  told.operation("chat", "1", heard("a"));
  told.event("FileUploaded", "file-f", "2");
  told.operation("file.upload", "2", { asked: { sha256: "x" }, got: { file_id: "f" } }, [null, 201]);
  told.operation("file.read", "3", { asked: { file_id: "f" }, got: { sha256: "x" } });
  told.operation("thread.read", "4", {
    asked: { thread: "t" },
    got: { messages: [{ role: "assistant", content: "a" }] },
  });
  told.event("ThreadDeleted", THREAD, "5");
  told.operation("thread.delete", "5", { asked: { thread: "t" } });
  told.operation("thread.read", "6", { asked: { thread: "t" }, outcome: "refused" }, [404]);
  expect(told.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("an acknowledged upload that is not in the log", () => {
    told.operation("file.upload", "1", { asked: { sha256: "x" }, got: { file_id: "f" } }, [201]);
    expect(told.findings()).toEqual(["lost I1"]);
  });

  test("an answered turn that is not in the log", () => {
    told.operation("chat", "1", heard("a"));
    expect(told.findings()).toEqual(["lost I1"]);
  });

  test("an event of something refused", () => {
    told.event("KeyCreated", "key-k", "1");
    told.operation("key.create", "1", { outcome: "refused" }, [400]);
    expect(told.findings()).toEqual(["different I2"]);
  });

  test("two turns under one key", () => {
    turn(told, "a", "1");
    turn(told, "b", "1", "b", 1);
    told.operation("chat", "1", heard("b"), [null, 200]);
    expect(told.findings()).toEqual(["doubled I3"]);
  });

  test("a second turn where a retry should have joined the first, and none where the first was answered", () => {
    turn(told, "a", "1");
    turn(told, "b", "1", "b", 1);
    told.operation("chat", "1", { ...heard("b"), keyed: false }, [null, 200]);
    turn(told, "c", "2");
    turn(told, "d", "2", "d", 1);
    told.operation("chat", "2", { ...heard("d"), keyed: false }, [500, 200]);
    expect(told.findings()).toEqual(["doubled I3 without a key"]);
  });

  test("a command with two sets of events", () => {
    told.event("FileUploaded", "file-f", "1");
    told.event("KeyCreated", "key-k", "2");
    told.event("FileUploaded", "file-f", "1");
    expect(told.findings()).toEqual(["doubled I5"]);
  });

  test("a turn that never ended, and one that began before it did", () => {
    told.event("TurnStarted", THREAD, "1", { turn_id: "a" }, { input: { prompt: { messages: [] } } });
    turn(told, "b", "2");
    expect(told.findings()).toEqual(["different I9", "stuck I8"]);
  });

  test("an answer with other words than are stored", () => {
    turn(told, "a", "1", "stored");
    told.operation("chat", "1", heard("a", "said"));
    expect(told.findings()).toEqual(["different I11"]);
  });

  test("a thread that lacks an answer, and a thread that is not found", () => {
    turn(told, "a", "1");
    told.operation("chat", "1", heard("a"));
    told.operation("thread.read", "2", { asked: { thread: "t" }, got: { messages: [] } });
    told.operation("thread.read", "3", { asked: { thread: "t" }, outcome: "refused" }, [404]);
    expect(told.findings()).toEqual(["lost I16", "lost I16"]);
  });

  test("a file that is shown after its deletion, or with other bytes", () => {
    told.event("FileUploaded", "file-f", "1");
    told.operation("file.upload", "1", { asked: { sha256: "x" }, got: { file_id: "f" } }, [201]);
    told.operation("file.read", "2", { asked: { file_id: "f" }, got: { sha256: "y" } });
    told.event("FileDeleted", "file-f", "3");
    told.operation("file.delete", "3", { asked: { file_id: "f" } });
    told.operation("file.read", "4", { asked: { file_id: "f" }, got: { sha256: "x" } });
    told.operation("file.list", "5", { got: { files: ["f"] } });
    expect(told.findings()).toEqual(["different I12", "different I16", "different I16"]);
  });

  test("a key that works after its deletion, and a session that does not work", () => {
    told.event("KeyCreated", "key-k", "1");
    told.operation("key.create", "1", { got: { key_id: "k" } }, [201]);
    told.event("KeyDeleted", "key-k", "2");
    told.operation("key.delete", "2", { asked: { key_id: "k" } });
    told.operation("key.use", "3", { asked: { key_id: "k" } });
    told.event("SessionStarted", "session-s", "4");
    told.operation("login", "4", { got: { token: "s" } });
    told.operation("session.use", "5", { asked: { token: "s" }, outcome: "refused" }, [401]);
    expect(told.findings()).toEqual(["different I16", "lost I16"]);
  });

  test("a provider that is not as it was put last", () => {
    for (const [id, models] of Object.entries({ 1: ["a"], 2: ["b"] })) {
      told.event("ProviderConfigured", "provider-p", id);
      told.operation("provider.put", id, { asked: { name: "p", models } });
    }
    told.operation("provider.read", "3", { asked: { name: "p" }, got: { models: ["a"] } });
    expect(told.findings()).toEqual(["different I16"]);
  });
});
