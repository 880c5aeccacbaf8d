import { describe, expect, test } from "vitest";
import { FileDeleted, FileUploaded } from "#events/file.ts";
import { eventDefinitions } from "#events/index.ts";
import { OcrLanguagesSet, OrganizationCreated, ScriptedToolsSwitched } from "#events/organization.ts";
import { ProjectChanged, ProjectCreated, ProjectDeleted } from "#events/project.ts";
import { ProviderConfigured, providerStream, ProviderRemoved } from "#events/provider.ts";
import { SessionEnded, SessionStarted } from "#events/session.ts";
import { PasswordSet, UserChanged, UserRegistered, UserRemoved } from "#events/user.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { files } from "./files/project.ts";
import { projections } from "./index.ts";
import { organizations } from "./organizations/project.ts";
import { projects } from "./projects/project.ts";
import { providers } from "./providers/project.ts";
import { sessions } from "./sessions/project.ts";
import { users } from "./users/project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";

describe("the projections", () => {
  test("insert a created organization, and nothing if it was erased", () => {
    const created = OrganizationCreated.of({ organization_id: id }, { name: "Ä\u0000" });
    expect(projectEvents(organizations, `organization-${id}`, created, erased(created))).toEqual([
      {
        table: "organizations",
        kind: "put",
        key: { id },
        row: { name: '"Ä\\u0000"', scripted_tools: true, ocr_languages: null, created_at: RECORDED_AT },
      },
    ]);
    expect(
      projectEvents(organizations, `organization-${ORGANIZATION}`, ScriptedToolsSwitched.of({ enabled: false })),
    ).toEqual([{ table: "organizations", kind: "patch", key: { id: ORGANIZATION }, row: { scripted_tools: false } }]);
    const own = OcrLanguagesSet.of({ languages: ["fra", "deu"] });
    const patches = projectEvents(
      organizations,
      `organization-${ORGANIZATION}`,
      own,
      OcrLanguagesSet.of({ languages: null }),
    );
    expect(patches.map(({ row }: any) => row)).toEqual([{ ocr_languages: '["fra","deu"]' }, { ocr_languages: null }]);
  });

  test("insert, patch and remove a user", () => {
    const registered = UserRegistered.of(
      { user_id: id, role: "owner", email_claim: "x" },
      { email: "a@b", name: "A", password_hash: "$h" },
    );
    const at = { table: "users", key: { id } };
    const changed = UserChanged.of({ user_id: id, role: "viewer", active: false, epoch: 2 }, { name: "B" });
    const renamed = UserChanged.of({ user_id: id, epoch: 2 }, { name: "C" });
    const password = PasswordSet.of({ user_id: id, epoch: 3 }, { password_hash: "$i" });
    const removed = UserRemoved.of({ user_id: id, email_claim: "x" });
    const later = [changed, renamed, password, erased(registered), erased(changed), erased(password), removed];
    expect(projectEvents(users, `organization-${ORGANIZATION}`, registered, ...later)).toEqual([
      {
        table: "users",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          role: "owner",
          active: true,
          epoch: 1,
          email: '"a@b"',
          name: '"A"',
          password_hash: "$h",
          created_at: RECORDED_AT,
          updated_at: RECORDED_AT,
        },
      },
      {
        ...at,
        kind: "patch",
        row: { role: "viewer", active: false, name: '"B"', epoch: 2, updated_at: RECORDED_AT },
      },
      { ...at, kind: "patch", row: { name: '"C"', epoch: 2, updated_at: RECORDED_AT } },
      { ...at, kind: "patch", row: { password_hash: "$i", epoch: 3, updated_at: RECORDED_AT } },
      { ...at, kind: "patch", row: { role: "viewer", active: false, epoch: 2, updated_at: RECORDED_AT } },
      { ...at, kind: "remove" },
      { table: "substitutes", kind: "remove", key: { user_id: id } },
    ]);
  });

  test("remove a session when it ends, and all sessions of a person who is deactivated, removed or gets a password", () => {
    const expires_at = "2026-02-01T00:00:00.000Z";
    const begun = SessionStarted.of({ session_id: id, user_id: id, token_hash: "t", epoch: 1, expires_at });
    const ends = [
      SessionEnded.of({ session_id: id }),
      UserChanged.of({ user_id: id, active: false, epoch: 2 }, {}),
      UserChanged.of({ user_id: id, active: true, epoch: 2 }, {}),
      UserChanged.of({ user_id: id, role: "viewer", epoch: 2 }, {}),
      PasswordSet.of({ user_id: id, epoch: 3 }, { password_hash: "$h" }),
      UserRemoved.of({ user_id: id, email_claim: "x" }),
    ];
    const all = { table: "sessions", kind: "removeWhere", where: { user_id: id } };
    expect(projectEvents(sessions, `session-${id}`, begun, ...ends)).toEqual([
      {
        table: "sessions",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          user_id: id,
          token_hash: "t",
          epoch: 1,
          expires_at: new Date(expires_at),
          started_at: RECORDED_AT,
        },
      },
      { table: "sessions", kind: "remove", key: { id } },
      all,
      all,
      all,
    ]);
  });

  test("keep the row of a provider under its stream's id, with its first date and without a removed secret", () => {
    const stream = providerStream(ORGANIZATION, "openai");
    const configured = ProviderConfigured.of(
      { name: "openai", credential_id: id, base_url: null, models: ["m"], ends_credential_id: null },
      { sealed_api_key: "s" },
    );
    const removed = ProviderRemoved.of({ name: "openai", ends_credential_id: id });
    const row = {
      name: '"openai"',
      base_url: null,
      models: '["m"]',
      format: null,
      context_windows: null,
      model: null,
      dimensions: null,
      sealed_api_key: "s",
      updated_at: RECORDED_AT,
    };
    const at = { table: "providers", key: { id: stream.slice("provider-".length) } };
    expect(projectEvents(providers, stream, configured, configured, removed)).toEqual([
      { ...at, kind: "put", row: { ...row, organization_id: ORGANIZATION, created_at: RECORDED_AT } },
      { ...at, kind: "patch", row },
      {
        ...at,
        kind: "patch",
        row: {
          base_url: null,
          models: null,
          format: null,
          context_windows: null,
          model: null,
          dimensions: null,
          sealed_api_key: null,
          updated_at: RECORDED_AT,
        },
      },
    ]);
  });

  test("insert, rename and remove a project, and insert nothing if it was erased", () => {
    const created = ProjectCreated.of({ project_id: id }, { name: "A" });
    const renamed = ProjectChanged.of({ project_id: id }, { name: "B" });
    const ended = [erased(created), erased(renamed), ProjectDeleted.of({ project_id: id })];
    const at = { table: "projects", key: { id } };
    const times = { created_at: RECORDED_AT, updated_at: RECORDED_AT };
    expect(projectEvents(projects, `project-${id}`, created, renamed, ...ended)).toEqual([
      { ...at, kind: "put", row: { organization_id: ORGANIZATION, name: '"A"', ...times } },
      { ...at, kind: "patch", row: { name: '"B"', updated_at: RECORDED_AT } },
      { ...at, kind: "remove" },
    ]);
  });

  test("insert and remove a file, and insert nothing if it was erased", () => {
    const uploaded = FileUploaded.of(
      { file_id: id, bytes: 3, mime_type: "text/plain", blob: "b", scope: "mine" },
      { filename: "\ud800.txt", purpose: "p", sha256: "00" },
    );
    expect(projectEvents(files, `file-${id}`, uploaded, erased(uploaded), FileDeleted.of({ file_id: id }))).toEqual([
      {
        table: "files",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          position: 1,
          principal: "system",
          scope: "mine",
          filename: '"\\ud800.txt"',
          purpose: '"p"',
          mime_type: '"text/plain"',
          bytes: 3,
          sha256: "00",
          blob: "b",
          created_at: RECORDED_AT,
        },
      },
      { table: "files", kind: "remove", key: { id } },
    ]);
  });

  test("handle every event except claims and messages, and no event that does not exist", () => {
    const followed = new Set(projections.flatMap((one) => Object.keys(one.on)));
    // a message is not kept: the runs that it reaches have events of their own
    const known = [...eventDefinitions.keys()].filter((type) => !/^(Claim|Message(Posted|Delivered)$)/.test(type));
    expect([...followed].sort()).toEqual(known.sort());
  });
});
