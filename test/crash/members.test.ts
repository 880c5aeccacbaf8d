import { beforeEach, describe, expect, test } from "vitest";
import { newScenario } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => (scenario = newScenario()));

const ROSTER = "organization-o";
const of = (more: object = {}) => ({ member_id: "m", ...more });

/** A member who was added: the event, and the client's request. */
function added() {
  scenario.event("UserRegistered", ROSTER, "1", { user_id: "m", role: "viewer" }, { email: "e" });
  scenario.operation("member.create", "1", {
    asked: { role: "viewer", active: true },
    got: of({ role: "viewer", active: true }),
  });
}
const login = (id: string, token: string, more: object = {}) => {
  scenario.event("SessionStarted", `session-${token}`, id, {});
  scenario.operation("member.login", id, { asked: of(), got: { token, role: "viewer" }, ...more });
};
function changed(id: string, change: object, got: object, more: object = {}) {
  scenario.event("UserChanged", ROSTER, id, { user_id: "m", epoch: 1, ...change });
  scenario.operation("member.change", id, { asked: of(change), got, ...more });
}
const use = (id: string, token: string, role = "viewer") =>
  scenario.operation("member.use", id, { asked: of({ token }), got: { role } });
const refusedUse = (id: string, token: string) =>
  scenario.operation("member.use", id, { asked: of({ token }), outcome: "refused" }, [401]);
const ended = { role: "viewer", active: false };

test("members and projects that agree with the log have no finding", () => {
  added();
  login("2", "a");
  use("3", "a");
  changed("4", { active: false }, ended);
  refusedUse("5", "a");
  scenario.operation("member.login", "6", { asked: of(), outcome: "refused" }, [401]);
  changed("7", { active: true }, { role: "viewer", active: true });
  refusedUse("8", "a");
  login("9", "b");
  // nothing changes, so nothing is in the log
  scenario.operation("member.change", "10", { asked: of({ active: true }), got: { role: "viewer", active: true } });
  scenario.event("PasswordSet", ROSTER, "11", { user_id: "m", epoch: 3 });
  scenario.operation("member.password", "11", { asked: of() });
  refusedUse("12", "b");
  scenario.event("UserRemoved", ROSTER, "13", { user_id: "m" });
  scenario.operation("member.delete", "13", { asked: of() });
  scenario.operation("member.read", "14", { asked: of(), outcome: "refused" }, [404]);
  scenario.event("ProjectCreated", "project-p", "15", { project_id: "p" });
  scenario.operation("project.create", "15", { asked: { name: "n" }, got: { project_id: "p", name: "n" } });
  scenario.event("KeyCreated", "key-k", "16", { key_id: "k", project_id: "p" });
  scenario.operation("key.create", "16", { asked: { project_id: "p" }, got: { key_id: "k" } });
  scenario.operation("project.read", "17", { asked: { project_id: "p" }, got: { name: "n" } });
  expect(scenario.findings()).toEqual([]);
});

test("a request with an unknown outcome is no finding, whatever happened", () => {
  added();
  login("2", "a");
  scenario.operation("member.change", "3", { asked: of({ active: false }), outcome: "unknown" }, [503]);
  use("4", "a");
  refusedUse("5", "a");
  expect(scenario.findings()).toEqual([]);
});

describe("the checker finds", () => {
  beforeEach(added);

  test("a member, a project, a password and a removal that are missing in the log", () => {
    scenario.operation("member.create", "2", { asked: {}, got: of({ member_id: "n" }) });
    scenario.operation("member.password", "3", { asked: of() });
    scenario.operation("member.delete", "4", { asked: of() });
    scenario.operation("project.create", "5", { asked: { name: "n" }, got: { project_id: "p", name: "n" } });
    scenario.operation("project.delete", "6", { asked: { project_id: "p" } });
    expect(scenario.findings()).toEqual(Array.from({ length: 5 }, () => "lost I1"));
  });

  test("a member and a project that were created twice, and a change that was made twice", () => {
    const again = (type: string, stream: string, id: string, data: object) => {
      scenario.event(type, stream, id, data);
      // of another command: each request is one of its own
      scenario.events.at(-1)!.command_id += " again";
    };
    again("UserRegistered", ROSTER, "1", { user_id: "n", role: "viewer" });
    scenario.event("ProjectCreated", "project-p", "2", { project_id: "p" });
    again("ProjectCreated", "project-q", "2", { project_id: "q" });
    scenario.operation("project.create", "2", { asked: { name: "n" }, got: { project_id: "p", name: "n" } }, [
      null,
      201,
    ]);
    changed("3", { role: "admin" }, { role: "admin", active: true });
    again("UserChanged", ROSTER, "3", { user_id: "m", role: "admin", epoch: 1 });
    expect(scenario.findings()).toEqual(["doubled I3", "doubled I3", "doubled I3"]);
  });

  test("a member whose repeated request was not recognized", () => {
    const refused = { asked: {}, outcome: "refused", code: "email_taken" } as const;
    scenario.operation("member.create", "2", refused, [null, 409]);
    expect(scenario.findings()).toEqual(["doubled I3"]);
  });

  test("an acknowledged change without effect", () => {
    scenario.operation("member.change", "2", { asked: of({ role: "admin" }), got: { role: "admin", active: true } });
    expect(scenario.findings()).toEqual(["lost I1"]);
  });

  test("an answer that differs from the request", () => {
    changed("2", { role: "admin" }, { role: "viewer", active: true });
    expect(scenario.findings()).toEqual(["different I1"]);
  });

  test.each([
    ["deactivated", () => changed("3", { active: false }, ended)],
    [
      "given another password",
      () => {
        scenario.event("PasswordSet", ROSTER, "3", { user_id: "m", epoch: 2 });
        scenario.operation("member.password", "3", { asked: of() });
      },
    ],
    [
      "removed",
      () => {
        scenario.event("UserRemoved", ROSTER, "3", { user_id: "m" });
        scenario.operation("member.delete", "3", { asked: of() });
      },
    ],
  ])("a session that works after its member was %s", (_, ends) => {
    login("2", "a");
    ends();
    use("4", "a");
    expect(scenario.findings()).toEqual(["different I16"]);
  });

  test("a restored session of a reactivated member, and a sign-in of a deactivated member", () => {
    login("2", "a");
    changed("3", { active: false }, ended);
    login("4", "b");
    changed("5", { active: true }, { role: "viewer", active: true });
    use("6", "a");
    expect(scenario.findings()).toEqual(["different I16", "different I16"]);
  });

  test("a session and a sign-in that are wrongly refused", () => {
    login("2", "a");
    refusedUse("3", "a");
    scenario.operation("member.login", "4", { asked: of(), outcome: "refused" }, [401]);
    expect(scenario.findings()).toEqual(["lost I16", "lost I16"]);
  });

  test("a role and a name that are read back differently", () => {
    login("2", "a");
    changed("3", { role: "admin" }, { role: "admin", active: true });
    use("4", "a", "viewer");
    scenario.operation("member.read", "5", { asked: of(), got: { role: "viewer", active: true } });
    scenario.event("ProjectCreated", "project-p", "6", { project_id: "p" });
    scenario.operation("project.create", "6", { asked: { name: "n" }, got: { project_id: "p", name: "n" } });
    scenario.event("ProjectChanged", "project-p", "7", { project_id: "p" });
    scenario.operation("project.change", "7", { asked: { project_id: "p", name: "o" }, got: { name: "o" } });
    scenario.operation("project.read", "8", { asked: { project_id: "p" }, got: { name: "n" } });
    expect(scenario.findings()).toEqual(["different I16", "different I16", "different I16"]);
  });

  test("a key of another project", () => {
    scenario.event("KeyCreated", "key-k", "2", { key_id: "k", project_id: null });
    scenario.operation("key.create", "2", { asked: { project_id: "p" }, got: { key_id: "k" } });
    expect(scenario.findings()).toEqual(["different I1"]);
  });

  test("a key that works after it was rotated", () => {
    const key = { key_id: "k" };
    scenario.event("KeyCreated", "key-k", "2", key);
    scenario.operation("key.create", "2", { got: key });
    scenario.event("KeyDeleted", "key-k", "3", key);
    scenario.operation("key.delete", "3", { asked: key });
    scenario.operation("key.use", "4", { asked: key });
    expect(scenario.findings()).toEqual(["different I16"]);
  });
});
