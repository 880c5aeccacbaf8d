import { beforeEach, describe, expect, test } from "vitest";
import { GUARDED_TOOL } from "../../dev/crash/linkedWorkflows.ts";
import { newScenario } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
let commands = 0;
beforeEach(() => (scenario = newScenario()));

const json = (value: unknown) => ({ json: JSON.stringify(value) });
const FORGET = { forget_at: "2126-01-01T00:00:00Z" };
const LIMITS = { limits: { max_steps: 10 }, expires_at: "2126-01-01T00:00:00Z", slot: null };

/** An event of a stream by the service itself. */
const event = (type: string, stream: string, data: object = {}, personal?: object) =>
  scenario.event(type, stream, `worker ${commands++}`, data, personal);
const ofRun = (run: string, type: string, data: object = {}, personal?: object) =>
  event(type, `run-${run}`, { run_id: run, ...data }, personal);
const created = (run: string, args: object, more: object = {}) =>
  ofRun(run, "RunCreated", { ...LIMITS, ...more }, { args: json(args), external_user_id: null });
const completed = (run: string, result: unknown, more: object = {}) =>
  ofRun(run, "RunCompleted", { ...FORGET, ...more }, { result: json(result) });

/** A run of a linked workflow that a client started, in the log. */
function started(kind: string, args: object = { id: "a", client: 0 }) {
  const data = { run_id: "r", ...LIMITS };
  scenario.event("RunCreated", "run-r", "1", data, { args: json(args), external_user_id: null });
  const asked = { kind, args, key: "1", external_user_id: null };
  scenario.operation("run.start", "1", { asked, got: { run_id: "r", accepted: true } }, [202]);
}

describe("runs that start runs", () => {
  const result = { id: "c", results: [], decided: [] };
  const starter = { starter: { run_id: "r", depth: 1, by: { type: "api_key", id: "k" } } };
  /** A starter with one child. */
  function startedChild() {
    started("starter");
    ofRun("r", "ChildRunRequested", { key: "k", child_run_id: "c", on_parent_end: "cancel" });
    created("c", { id: "c", client: 0 }, starter);
    ofRun("r", "ChildRunStarted", { key: "k", child_run_id: "c" });
    ofRun("r", "RunWaitStarted", { key: "w", awaited_run_id: "c", expires_at: null });
    completed("c", result, { settles: true });
    ofRun("r", "WaitAnswered", { key: "w", epoch: 2, worker: "w" }, { answer: json({}) });
  }
  const end = (children: unknown) => completed("r", { id: "a", children });
  const child = { run_id: "c", status: "completed", result };

  test("one child, one answer and its result are no finding", () => {
    startedChild();
    ofRun("c", "RunSettled");
    end([child]);
    expect(scenario.findings()).toEqual([]);
  });

  test("a second child, a second answer, a wrong result and an unsettled end are findings", () => {
    startedChild();
    created("d", { id: "d", client: 0 }, starter);
    completed("d", { id: "d", results: [], decided: [] });
    ofRun("r", "WaitAnswered", { key: "w", epoch: 3, worker: "w" }, { answer: json({}) });
    end([{ ...child, status: "failed" }]);
    expect(scenario.findings().toSorted()).toEqual(["different I10", "doubled I10", "doubled I10", "stuck I8"]);
  });

  test("an erased result is a finding", () => {
    startedChild();
    ofRun("c", "RunSettled");
    ofRun("r", "RunCompleted", FORGET);
    expect(scenario.findings()).toEqual(["lost I10"]);
  });

  test("a child that continues after its cancelled parent was settled is a finding", () => {
    started("starter");
    ofRun("r", "ChildRunRequested", { key: "k", child_run_id: "c", on_parent_end: "cancel" });
    created("c", { id: "c", client: 0 }, starter);
    ofRun("r", "RunCancelled", { ...FORGET, settles: true, by: { type: "person", id: "p" } });
    scenario.operation("run.cancel", "2", { asked: { run_id: "r" } });
    ofRun("r", "RunSettled");
    completed("c", result);
    expect(scenario.findings()).toEqual(["different I10"]);
  });
});

describe("events", () => {
  const data = { id: "a", n: 1 };
  function listening(expires_at: string | null = null) {
    started("listener");
    ofRun("r", "MessageWaitStarted", { key: "w", expires_at }, { name: "crash", match: { id: "a" } });
  }
  const sent = (id: string, got: object) => scenario.operation("event.send", id, { asked: { event: "e", data }, got });
  const answered = (message: string) =>
    ofRun("r", "WaitAnswered", { key: "w", epoch: 2, worker: "w", message_id: message }, { answer: json({}) });
  const posted = (message: string) => event("MessagePosted", `message-${message}`, { message_id: message });
  const delivered = (message: string, reached: number) =>
    event("MessageDelivered", `message-${message}`, { message_id: message, reached });

  test("an event that reaches the run that waits for it is no finding", () => {
    listening();
    posted("m");
    answered("m");
    delivered("m", 1);
    sent("2", { message_id: "m", reached: 1 });
    sent("3", { message_id: "m", reached: 1 });
    completed("r", { id: "a", event: { status: "received", event_id: "m", data } });
    expect(scenario.findings()).toEqual([]);
  });

  test("an event that misses a run, is sent twice, or is not delivered is a finding", () => {
    listening();
    posted("m");
    delivered("m", 0);
    posted("n");
    sent("2", { message_id: "m", reached: 0 });
    sent("3", { message_id: "n", reached: null });
    ofRun("r", "WaitTimedOut", { key: "w" });
    completed("r", { id: "a", event: { status: "timed_out" } });
    expect(scenario.findings()).toEqual(["stuck I8", "doubled I3", "lost I10"]);
  });

  test.each([
    ["over before an event came", "1960-01-01T00:00:00Z", []],
    ["open when an event came", "2126-01-01T00:00:00Z", ["lost I10"]],
  ])("a wait that was %s and timed out later has the findings $2", (_, expires_at, findings) => {
    listening(expires_at);
    posted("m");
    delivered("m", 0);
    sent("2", { message_id: "m", reached: 0 });
    ofRun("r", "WaitTimedOut", { key: "w" });
    completed("r", { id: "a", event: { status: "timed_out" } });
    expect(scenario.findings()).toEqual(findings);
  });

  test("an answer that the delivery did not count is a finding", () => {
    listening();
    posted("m");
    answered("m");
    delivered("m", 2);
    sent("2", { message_id: "m", reached: 2 });
    completed("r", { id: "a", event: { status: "received", event_id: "m", data } });
    expect(scenario.findings()).toEqual(["different I10"]);
  });
});

describe("votes", () => {
  const APPROVAL = { approval_id: "p", key: "k" };
  const by = (id: string, type = "person") => ({ type, id });
  const requested = () => {
    started("voted");
    const terms = {
      ...APPROVAL,
      expires_at: "2126-01-01T00:00:00Z",
      votes: { required: 2, one_rejection_ends: false },
    };
    ofRun("r", "ApprovalRequested", terms, { name: "votes" });
  };
  const voted = (who: object, more: object = {}) =>
    ofRun("r", "ApprovalVoted", { ...APPROVAL, decision: "approve", by: who, ...more });
  const decided = (who: object) =>
    ofRun("r", "ApprovalDecided", { ...APPROVAL, decision: "approve", by: who, epoch: 2, worker: "w" });
  const votes = (...ids: string[]) => ids.map((id) => ({ by: id, decision: "approve" }));
  const vote = (id: string, who: object) =>
    scenario.operation("run.vote", id, { asked: { run_id: "r", approval_id: "p", decision: "approve", by: who } });

  test("two equal votes that decide are no finding", () => {
    requested();
    voted(by("a"));
    voted(by("b"));
    decided(by("b"));
    vote("2", by("a"));
    vote("3", by("b"));
    completed("r", { id: "a", status: "approved", votes: votes("a", "b") });
    expect(scenario.findings()).toEqual([]);
  });

  test("a voter's file that the run did not receive is a finding", () => {
    requested();
    voted(by("a"), { files: ["f"] });
    voted(by("b"));
    decided(by("b"));
    completed("r", { id: "a", status: "approved", votes: votes("a", "b") });
    expect(scenario.findings()).toEqual(["different I10"]);
  });

  test("a vote of a person and another vote by their link, which together decide, are a finding", () => {
    requested();
    ofRun("r", "ApprovalLinkCreated", { ...APPROVAL, link_id: "l", created_by: by("a") });
    voted(by("a"));
    voted(by("l", "link"));
    decided(by("l", "link"));
    completed("r", { id: "a", status: "approved", votes: votes("a", "l") });
    expect(scenario.findings()).toEqual(["doubled I10"]);
  });

  test("a lost vote, a decision with too few votes, and votes that a read does not show are findings", () => {
    requested();
    voted(by("a"));
    decided(by("a"));
    vote("2", by("b"));
    const shown = { got: { approvals: [{ id: "p", status: "approved", votes: 0 }] } };
    scenario.operation("run.approvals", "1-0-end-1", { asked: { run_id: "r" }, ...shown });
    completed("r", { id: "a", status: "approved", votes: votes("a") });
    expect(scenario.findings()).toEqual(["different I10", "lost I1", "different I16"]);
  });
});

describe("retries", () => {
  const parent = { parent: { run_id: "p", kind: "retry", effects_of: "p", steps: 1 } };
  const step = (run: string, key: string) => {
    ofRun(run, "StepsScheduled", { steps: [{ key, name: "pure" }] }, { args: [json({})] });
    ofRun(run, "StepStarted", { key, name: "pure", attempt: 1 });
    ofRun(run, "StepCompleted", { key, name: "pure", attempt: 1 }, { result: json({}) });
  };
  const failed = (run: string) =>
    ofRun(run, "RunFailed", { ...FORGET, code: "step_failed", step: "breaks", key: "b" }, { error: { message: "no" } });

  test("a retry that continues where its parent failed is no finding, but a second one and a repeated step are", () => {
    created("p", { id: "a", client: 0 });
    step("p", "s");
    failed("p");
    created("q", { id: "a", client: 0 }, parent);
    step("q", "t");
    completed("q", { id: "a", results: [], decided: [] });
    scenario.operation("run.retry", "2", { asked: { run_id: "p" }, got: { new_run_id: "q" } });
    expect(scenario.findings()).toEqual([]);
    created("o", { id: "a", client: 0 }, parent);
    step("o", "s");
    completed("o", { id: "a", results: [], decided: [] });
    scenario.operation("run.retry", "3", { asked: { run_id: "p" }, got: { new_run_id: "gone" } });
    expect(scenario.findings()).toEqual(["doubled I3", "doubled I5", "lost I1"]);
  });
});

describe("turns that wait for people", () => {
  const CALL = { turn_id: "t", round: 0, call: 0 };
  const asked = () => {
    scenario.event("TurnStarted", "thread-t", "1", { turn_id: "t" }, { input: { prompt: { messages: [] } } });
    scenario.operation("agent.ask", "1");
    event("ToolApprovalRequested", "thread-t", { ...CALL, approval_id: "p", attempt: 1 });
  };
  const decided = (decision: string) =>
    event("ToolApprovalDecided", "thread-t", { ...CALL, approval_id: "p", decision });
  const ended = () => event("TurnCompleted", "thread-t", { turn_id: "t" }, { said: { text: "done" } });
  const acted = () => scenario.effect({ run_id: GUARDED_TOOL, key: "1", step: "call" });
  const decision = (id: string, word: string) =>
    scenario.operation("tool.decide", id, { asked: { approval_id: "p", decision: word } });

  test("a turn that still waits, and a call that runs once it is approved, are no finding", () => {
    asked();
    expect(scenario.findings()).toEqual([]);
    decided("approve");
    event("ToolStarted", "thread-t", CALL);
    acted();
    ended();
    decision("2", "approve");
    expect(scenario.findings()).toEqual([]);
  });

  test("a rejected call that runs, a call that runs twice, and a decision that differs from the acknowledged one are findings", () => {
    asked();
    decided("reject");
    acted();
    acted();
    ended();
    decision("2", "approve");
    expect(scenario.findings()).toEqual(["different I1", "doubled I10", "different I10"]);
  });

  test("a call that succeeded but never ran is a finding", () => {
    asked();
    decided("approve");
    event("ToolFinished", "thread-t", { ...CALL, name: GUARDED_TOOL, status: "completed" });
    ended();
    expect(scenario.findings()).toEqual(["lost I10"]);
  });

  test("a turn that does not continue after its approvals are decided is a finding", () => {
    asked();
    decided("approve");
    expect(scenario.findings()).toEqual(["stuck I8"]);
  });
});

describe("runs that ask agents", () => {
  const answer = { ok: true, value: { output_text: "Hi" } };
  const asked = (turn_id: string) => {
    started("asking");
    ofRun("r", "AgentTurnStarted", { key: "k", turn_id, thread_id: "t", agent_id: "a", look_at: FORGET.forget_at });
    ofRun("r", "WaitAnswered", { key: "k", epoch: 2, worker: "w" }, { answer: json(answer) });
  };
  const turn = (turn_id: string) => event("TurnStarted", "thread-t", { turn_id, attempt: 1, scope: "run:r" });

  test("one turn and its answer are no finding of the run", () => {
    asked("u");
    turn("u");
    completed("r", { id: "a", answers: [answer] });
    expect(scenario.findings().filter((one) => one.endsWith("I10"))).toEqual([]);
  });

  test("a missing turn, a repeated turn, and an answer that differs are findings", () => {
    asked("u");
    completed("r", { id: "a", answers: [{ ...answer, ok: false }] });
    expect(scenario.findings()).toEqual(expect.arrayContaining(["lost I10", "different I10"]));
    turn("u");
    turn("u");
    expect(scenario.findings()).toContain("doubled I10");
  });
});

describe("runs that store something", () => {
  const stored = { file_id: "f", content: "File of a", document_id: "d" };
  function storing() {
    started("storing");
    event("FileUploaded", "file-f", { file_id: "f", scope: "run:r" });
    scenario.event("DocumentUploaded", "document-d", "r", { document_id: "d" });
    completed("r", { id: "a", stored });
  }
  /** Leaves out what a document of this test lacks: it is never read. */
  const ofRuns = () => scenario.findings().filter((one) => one.endsWith("I10"));

  test("one file, one document and their ids are no finding of the run", () => {
    storing();
    expect(ofRuns()).toEqual([]);
  });
  test("an extra file, a lost document, and a text that differs are findings", () => {
    storing();
    event("FileUploaded", "file-g", { file_id: "g", scope: "run:r" });
    expect(ofRuns()).toEqual(["doubled I10"]);
    event("DocumentDeleted", "document-d", { document_id: "d" });
    expect(ofRuns()).toEqual(["doubled I10", "lost I10"]);
  });
  test("a file that is missing in the log, and a result that differs from the stored content, are findings", () => {
    started("storing");
    scenario.event("DocumentUploaded", "document-d", "r", { document_id: "d" });
    completed("r", { id: "a", stored: { ...stored, content: "File of b" } });
    expect(ofRuns().toSorted()).toEqual(["different I10", "lost I10"]);
  });
  test("two runs that took the same start of a rate are a finding", () => {
    created("r1", { id: "b" }, { start_place: "p" });
    created("r2", { id: "c" }, { start_place: "p" });
    expect(ofRuns()).toContain("doubled I10");
  });
});
