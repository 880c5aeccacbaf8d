import { expect, test } from "vitest";
import { FileDeleted, FileUploaded } from "#events/file.ts";
import { KeyChanged, KeyCreated, KeyDeleted, KeyRotated } from "#events/key.ts";
import { OcrLanguagesSet, OrganizationCreated, ScriptedToolsSwitched } from "#events/organization.ts";
import { ProjectChanged, ProjectCreated, ProjectDeleted } from "#events/project.ts";
import { ProviderConfigured, ProviderRemoved } from "#events/provider.ts";
import { SessionEnded, SessionStarted } from "#events/session.ts";
import { command, given } from "#test/given.ts";
import { file } from "./file.ts";
import { key } from "./key.ts";
import { organization } from "./organization.ts";
import { project } from "./project.ts";
import { provider } from "./provider.ts";
import { session } from "./session.ts";

const organizationCreated = OrganizationCreated.of({ organization_id: "o1" }, { name: "A" });

test("an organization can be created only once", () => {
  const create = command("CreateOrganization", { organization_id: "o1", name: "A" });
  given(organization).when(create).then(organizationCreated);
  given(organization, [organizationCreated]).when(create).rejected("organization_exists");
});

test("a session ends only once", () => {
  const data = { session_id: "s1", user_id: "u1", token_hash: "h", epoch: 1, expires_at: "2026-01-01T00:00:00.000Z" };
  const end = command("EndSession", { session_id: "s1" });
  given(session).when(command("StartSession", data)).then(SessionStarted.of(data));
  given(session, [SessionStarted.of(data)])
    .when(end)
    .then(SessionEnded.of({ session_id: "s1" }));
  given(session, [SessionStarted.of(data), SessionEnded.of({ session_id: "s1" })])
    .when(end)
    .then();
});

test("an API key is created, changed, given a new secret, and deleted together with its data key", () => {
  const settings = { products: [], expires_at: null, enabled: true, allowed_models: null };
  const fixed = { key_id: "k1", key_hash: "h", key_hint: "abcd", project_id: null };
  const created = KeyCreated.of({ ...fixed, ...settings }, { name: "K" });
  given(key)
    .when(command("CreateKey", { ...fixed, ...settings, name: "K" }))
    .then(created);
  given(key, [created])
    .when(command("ChangeKey", { key_id: "k1", enabled: false }))
    .then(KeyChanged.of({ key_id: "k1", enabled: false }, { name: undefined }));
  const secret = { key_id: "k1", key_hash: "i", key_hint: "efgh" };
  given(key, [created]).when(command("RotateKey", secret)).then(KeyRotated.of(secret));
  const deleted = KeyDeleted.of({ key_id: "k1" });
  given(key, [created])
    .when(command("DeleteKey", { key_id: "k1" }))
    .then(deleted);
  expect(key.erases!([deleted], "key-k1")).toEqual({ things: ["key-k1"] });
  given(key, [created, deleted])
    .when(command("ChangeKey", { key_id: "k1" }))
    .rejected("key_not_found");
});

test("a project is created, renamed, and deleted together with its data key", () => {
  const created = ProjectCreated.of({ project_id: "p1" }, { name: "P" });
  const create = command("CreateProject", { project_id: "p1", name: "P" });
  const rename = command("ChangeProject", { project_id: "p1", name: "Q" });
  const remove = command("DeleteProject", { project_id: "p1" });
  given(project).when(create).then(created);
  given(project).when(rename).rejected("project_not_found");
  given(project, [created]).when(create).rejected("project_exists");
  given(project, [created])
    .when(rename)
    .then(ProjectChanged.of({ project_id: "p1" }, { name: "Q" }));
  const deleted = ProjectDeleted.of({ project_id: "p1" });
  given(project, [created]).when(remove).then(deleted);
  expect(project.erases!([deleted], "project-p1")).toEqual({ things: ["project-p1"] });
  for (const request of [rename, remove])
    given(project, [created, deleted]).when(request).rejected("project_not_found");
});

test("scripted tools are on until they are turned off, and only a change is an event", () => {
  const turn = (enabled: boolean) => command("SwitchScriptedTools", { enabled });
  const off = ScriptedToolsSwitched.of({ enabled: false });
  given(organization).when(turn(false)).rejected("organization_not_found");
  given(organization, [organizationCreated]).when(turn(true)).then();
  given(organization, [organizationCreated]).when(turn(false)).then(off);
  given(organization, [organizationCreated, off]).when(turn(false)).then();
  given(organization, [organizationCreated, off])
    .when(turn(true))
    .then(ScriptedToolsSwitched.of({ enabled: true }));
});

test("an organization has the deployment's languages of text recognition until it sets its own, and only a change is an event", () => {
  const set = (languages: string[] | null) => command("SetOcrLanguages", { languages });
  const own = OcrLanguagesSet.of({ languages: ["fra", "deu"] });
  given(organization)
    .when(set(["fra"]))
    .rejected("organization_not_found");
  given(organization, [organizationCreated]).when(set(null)).then();
  given(organization, [organizationCreated])
    .when(set(["fra", "deu"]))
    .then(own);
  given(organization, [organizationCreated, own])
    .when(set(["fra", "deu"]))
    .then();
  given(organization, [organizationCreated, own])
    .when(set(["deu", "fra"]))
    .then(OcrLanguagesSet.of({ languages: ["deu", "fra"] }));
  given(organization, [organizationCreated, own])
    .when(set(null))
    .then(OcrLanguagesSet.of({ languages: null }));
});

test("the state of a provider holds the credential until it is removed", () => {
  const data = { name: "acme", credential_id: "c1", base_url: "https://acme.example", models: null };
  const secret = { sealed_api_key: "sealed" };
  const configured = ProviderConfigured.of({ ...data, ends_credential_id: null }, secret);
  const configure = (credential_id: string) => command("ConfigureProvider", { ...data, ...secret, credential_id });
  given(provider).when(configure("c1")).then(configured);
  expect(given(provider, [configured]).state).toEqual({
    status: "configured",
    credential_id: "c1",
    base_url: data.base_url,
    sealed_api_key: "sealed",
  });
  const replaced = ProviderConfigured.of({ ...data, credential_id: "c2", ends_credential_id: "c1" }, secret);
  given(provider, [configured]).when(configure("c2")).then(replaced);
  expect(provider.erases!([replaced], "provider-p")).toEqual({ things: ["credential-c1"] });
  const removed = ProviderRemoved.of({ name: "acme", ends_credential_id: "c1" });
  expect(provider.erases!([removed], "provider-p")).toEqual({ things: ["credential-c1"] });
  given(provider, [configured])
    .when(command("RemoveProvider", { name: "acme" }))
    .then(removed);
  given(provider, [configured, removed])
    .when(command("RemoveProvider", { name: "acme" }))
    .rejected("provider_not_found");
});

test("only its owner can delete a file, and its data key is destroyed with it", () => {
  const data = { file_id: "f1", bytes: 1, mime_type: "text/plain", blob: "b", scope: "mine" };
  const personal = { filename: "a.txt", purpose: "user_data", sha256: "h" };
  const uploaded = FileUploaded.of(data, personal);
  const remove = (scope: string) => command("DeleteFile", { file_id: "f1", scope });
  given(file)
    .when(command("UploadFile", { ...data, ...personal }))
    .then(uploaded);
  given(file, [uploaded]).when(remove("yours")).rejected("file_not_found");
  const deleted = FileDeleted.of({ file_id: "f1" });
  given(file, [uploaded]).when(remove("mine")).then(deleted);
  expect(file.erases!([deleted], "file-f1")).toEqual({ things: ["file-f1"] });
  given(file, [uploaded, deleted]).when(remove("mine")).rejected("file_not_found");
});
