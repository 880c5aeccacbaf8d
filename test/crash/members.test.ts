import { beforeEach, describe, expect, test } from "vitest";
import { story } from "./story.ts";

let told: ReturnType<typeof story>;
beforeEach(() => (told = story()));

const ROSTER = "organization-o";
const of = (more: object = {}) => ({ member_id: "m", ...more });

/** A member who was added, as the log has it. */
function added() {
  told.event("UserRegistered", ROSTER, "1", { user_id: "m", role: "viewer" }, { email: "e" });
  told.operation("member.create", "1", {
    asked: { role: "viewer", active: true },
    got: of({ role: "viewer", active: true }),
  });
}
const login = (id: string, token: string, more: object = {}) => {
  told.event("SessionStarted", `session-${token}`, id, {});
  told.operation("member.login", id, { asked: of(), got: { token, role: "viewer" }, ...more });
};
function changed(id: string, change: object, got: object, more: object = {}) {
  told.event("UserChanged", ROSTER, id, { user_id: "m", epoch: 1, ...change });
  told.operation("member.change", id, { asked: of(change), got, ...more });
}
const use = (id: string, token: string, role = "viewer") =>
  told.operation("member.use", id, { asked: of({ token }), got: { role } });
const refusedUse = (id: string, token: string) =>
  told.operation("member.use", id, { asked: of({ token }), outcome: "refused" }, [401]);
const ended = { role: "viewer", active: false };

test("members and projects whose story is the log's are no finding", () => {
  added();
  login("2", "a");
  use("3", "a");
  changed("4", { active: false }, ended);
  refusedUse("5", "a");
  told.operation("member.login", "6", { asked: of(), outcome: "refused" }, [401]);
  changed("7", { active: true }, { role: "viewer", active: true });
  refusedUse("8", "a");
  login("9", "b");
  // nothing changes, so nothing is in the log
  told.operation("member.change", "10", { asked: of({ active: true }), got: { role: "viewer", active: true } });
  told.event("PasswordSet", ROSTER, "11", { user_id: "m", epoch: 3 });
  told.operation("member.password", "11", { asked: of() });
  refusedUse("12", "b");
  told.event("UserRemoved", ROSTER, "13", { user_id: "m" });
  told.operation("member.delete", "13", { asked: of() });
  told.operation("member.read", "14", { asked: of(), outcome: "refused" }, [404]);
  told.event("ProjectCreated", "project-p", "15", { project_id: "p" });
  told.operation("project.create", "15", { asked: { name: "n" }, got: { project_id: "p", name: "n" } });
  told.event("KeyCreated", "key-k", "16", { key_id: "k", project_id: "p" });
  told.operation("key.create", "16", { asked: { project_id: "p" }, got: { key_id: "k" } });
  told.operation("project.read", "17", { asked: { project_id: "p" }, got: { name: "n" } });
  expect(told.findings()).toEqual([]);
});

test("what may or may not have happened is no finding either way", () => {
  added();
  login("2", "a");
  told.operation("member.change", "3", { asked: of({ active: false }), outcome: "unknown" }, [503]);
  use("4", "a");
  refusedUse("5", "a");
  expect(told.findings()).toEqual([]);
});

describe("the checker finds", () => {
  beforeEach(added);

  test("a member, a project, a password and a removal that are not in the log", () => {
    told.operation("member.create", "2", { asked: {}, got: of({ member_id: "n" }) });
    told.operation("member.password", "3", { asked: of() });
    told.operation("member.delete", "4", { asked: of() });
    told.operation("project.create", "5", { asked: { name: "n" }, got: { project_id: "p", name: "n" } });
    told.operation("project.delete", "6", { asked: { project_id: "p" } });
    expect(told.findings()).toEqual(Array.from({ length: 5 }, () => "lost I1"));
  });

  test("a member and a project that were made twice, and a change that was", () => {
    const again = (type: string, stream: string, id: string, data: object) => {
      told.event(type, stream, id, data);
      // of another command: each request is one of its own
      told.events.at(-1)!.command_id += " again";
    };
    again("UserRegistered", ROSTER, "1", { user_id: "n", role: "viewer" });
    told.event("ProjectCreated", "project-p", "2", { project_id: "p" });
    again("ProjectCreated", "project-q", "2", { project_id: "q" });
    told.operation("project.create", "2", { asked: { name: "n" }, got: { project_id: "p", name: "n" } }, [null, 201]);
    changed("3", { role: "admin" }, { role: "admin", active: true });
    again("UserChanged", ROSTER, "3", { user_id: "m", role: "admin", epoch: 1 });
    expect(told.findings()).toEqual(["doubled I3", "doubled I3", "doubled I3"]);
  });

  test("a member whose repeated request was not known again", () => {
    const refused = { asked: {}, outcome: "refused", code: "email_taken" } as const;
    told.operation("member.create", "2", refused, [null, 409]);
    expect(told.findings()).toEqual(["doubled I3"]);
  });

  test("a change that was acknowledged and does not stand", () => {
    told.operation("member.change", "2", { asked: of({ role: "admin" }), got: { role: "admin", active: true } });
    expect(told.findings()).toEqual(["lost I1"]);
  });

  test("an answer that is not what was asked for", () => {
    changed("2", { role: "admin" }, { role: "viewer", active: true });
    expect(told.findings()).toEqual(["different I1"]);
  });

  test.each([
    ["deactivated", () => changed("3", { active: false }, ended)],
    [
      "given another password",
      () => {
        told.event("PasswordSet", ROSTER, "3", { user_id: "m", epoch: 2 });
        told.operation("member.password", "3", { asked: of() });
      },
    ],
    [
      "removed",
      () => {
        told.event("UserRemoved", ROSTER, "3", { user_id: "m" });
        told.operation("member.delete", "3", { asked: of() });
      },
    ],
  ])("a session that works after its member was %s", (_, ends) => {
    login("2", "a");
    ends();
    use("4", "a");
    expect(told.findings()).toEqual(["different I16"]);
  });

  test("a session that came back with its member, and a sign-in of one who may not", () => {
    login("2", "a");
    changed("3", { active: false }, ended);
    login("4", "b");
    changed("5", { active: true }, { role: "viewer", active: true });
    use("6", "a");
    expect(told.findings()).toEqual(["different I16", "different I16"]);
  });

  test("a session and a sign-in that are refused though they should not be", () => {
    login("2", "a");
    refusedUse("3", "a");
    told.operation("member.login", "4", { asked: of(), outcome: "refused" }, [401]);
    expect(told.findings()).toEqual(["lost I16", "lost I16"]);
  });

  test("a role and a name that are read otherwise than they were given", () => {
    login("2", "a");
    changed("3", { role: "admin" }, { role: "admin", active: true });
    use("4", "a", "viewer");
    told.operation("member.read", "5", { asked: of(), got: { role: "viewer", active: true } });
    told.event("ProjectCreated", "project-p", "6", { project_id: "p" });
    told.operation("project.create", "6", { asked: { name: "n" }, got: { project_id: "p", name: "n" } });
    told.event("ProjectChanged", "project-p", "7", { project_id: "p" });
    told.operation("project.change", "7", { asked: { project_id: "p", name: "o" }, got: { name: "o" } });
    told.operation("project.read", "8", { asked: { project_id: "p" }, got: { name: "n" } });
    expect(told.findings()).toEqual(["different I16", "different I16", "different I16"]);
  });

  test("a key of another project", () => {
    told.event("KeyCreated", "key-k", "2", { key_id: "k", project_id: null });
    told.operation("key.create", "2", { asked: { project_id: "p" }, got: { key_id: "k" } });
    expect(told.findings()).toEqual(["different I1"]);
  });

  test("a key that works after it was rotated", () => {
    const key = { key_id: "k" };
    told.event("KeyCreated", "key-k", "2", key);
    told.operation("key.create", "2", { got: key });
    told.event("KeyDeleted", "key-k", "3", key);
    told.operation("key.delete", "3", { asked: key });
    told.operation("key.use", "4", { asked: key });
    expect(told.findings()).toEqual(["different I16"]);
  });
});
