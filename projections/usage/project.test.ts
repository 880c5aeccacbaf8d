import { describe, expect, test } from "vitest";
import { AgentChanged, AgentDeleted } from "#events/agent.ts";
import { DocumentDeleted, DocumentIndexed, DocumentReprocessed } from "#events/document.ts";
import { ExtractionCompleted, ExtractionRequested } from "#events/extraction.ts";
import { FileDeleted, FileUploaded } from "#events/file.ts";
import { KeyCreated, KeyDeleted } from "#events/key.ts";
import {
  NO_USAGE,
  RoundRequested,
  ThreadDeleted,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStarted,
  TurnStopped,
} from "#events/thread.ts";
import { TurnParked } from "#events/threadApprovals.ts";
import { promptOf } from "#test/startTurn.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { documentUploaded } from "#test/samples.ts";
import { usage } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const agent_id = "0198c0de-0000-7000-8000-00000000000b";
const thread = "thread-0198c0de-0000-7000-8000-00000000000c";
const tokens = { prompt_tokens: 7, completion_tokens: 5, cached_tokens: 3, reasoning_tokens: 2 };
const nothing = { turns: 0, ...NO_USAGE, cost: null, pages: 0, model: null };
const said = { text: "", reasoning: "", citations: [] };

const turnStarted = (user: string | null, more: object = {}) =>
  TurnStarted.of(
    {
      turn_id: id,
      scope: "s",
      model: "offline/echo",
      streamed: false,
      ends_by: RECORDED_AT.toISOString(),
      worker: null,
      command_id: "c",
      ...more,
    },
    { input: { prompt: { ...promptOf([]), user } } },
  );
const row = { organization_id: ORGANIZATION, principal: "system" };
const source = { table: "usage_sources", key: { id, generation: 0 } };
const released = { table: "usage_reservations", kind: "remove", key: { organization_id: ORGANIZATION, turn_id: id } };
const dropped = { table: "usage_holdings", kind: "remove", key: { id } };
const held = (amounts: object, more: object = {}) => ({
  table: "usage_holdings",
  kind: "put",
  key: { id },
  row: { position: 1, ...row, ...more, bytes: 0, documents: 0, runs: 0, ...amounts },
});
const spent = (part: number, counted: object) => ({
  table: "usage",
  kind: "put",
  key: { source_id: id, part },
  row: { generation: 0, organization_id: ORGANIZATION, at: RECORDED_AT, ...nothing, ...counted },
});

test("the labels of a turn are kept with its source, for reports", () => {
  const labelled = { ...turnStarted(null), data: { ...turnStarted(null).data, labels: { team: "search" } } };
  expect(projectEvents(usage, thread, labelled)[0]).toMatchObject({
    table: "usage_sources",
    row: { labels: '{"team":"search"}' },
  });
});

describe("the usage projection of a turn", () => {
  const attempt = { turn_id: id, attempt: 1 };

  test("stores model, agent and user, and removes only the user when the turn is deleted", () => {
    const agent = { agent_id, version: 1, expose_tool_items: true, previous_turn_id: null };
    const started = turnStarted("ada", { agent, workflow_id: agent_id });
    const changes = projectEvents(usage, thread, started, TurnDeleted.of({ turn_id: id }), ThreadDeleted.of({}));
    const thread_id = thread.slice("thread-".length);
    expect(changes).toEqual([
      {
        ...source,
        kind: "put",
        row: {
          ...row,
          scope: "s",
          model: '"offline/echo"',
          agent_id,
          workflow_id: agent_id,
          project_id: null,
          user_mark: null,
        },
      },
      {
        table: "usage_users",
        kind: "put",
        key: { id },
        row: { thread_id, organization_id: ORGANIZATION, scope: "s", user_mark: null, name: '"ada"' },
      },
      { table: "usage_users", kind: "remove", key: { id } },
      released,
      dropped,
      { table: "usage_users", kind: "removeWhere", where: { thread_id } },
      { table: "usage_reservations", kind: "removeWhere", where: { organization_id: ORGANIZATION, thread_id } },
      { table: "usage_holdings", kind: "removeWhere", where: { thread_id } },
    ]);
    const unnamed = {
      ...source,
      kind: "put",
      row: {
        ...row,
        scope: "s",
        model: '"offline/echo"',
        agent_id: null,
        workflow_id: null,
        project_id: null,
        user_mark: null,
      },
    };
    const blob = { ...turnStarted(null), personal: { input: { prompt_blob: "b" } } };
    expect(projectEvents(usage, thread, turnStarted(null), erased(turnStarted("ada")), blob)).toEqual([
      unnamed,
      unnamed,
      unnamed,
    ]);
  });

  test("of a run is counted for the key or person behind the run", () => {
    const principals = [
      { type: "api_key", id: "k" },
      { type: "person", id: "p" },
      { type: "schedule", id: "s" },
    ].map((asked_by) => {
      const [put] = projectEvents(usage, thread, turnStarted(null, { asked_by }));
      return put?.kind === "put" && put.row["principal"];
    });
    expect(principals).toEqual(["key:k", "person:p", "system"]);
  });

  test("has the cost in its event, and none if the event has none", () => {
    const ending = (usage: typeof tokens & { cost?: string }) =>
      TurnCompleted.of({ ...attempt, finish_reason: "stop", usage, model: "m" }, { said });
    const [, priced] = projectEvents(usage, thread, ending({ ...tokens, cost: "0.000000000001" }));
    expect(priced).toEqual(spent(-1, { ...tokens, turns: 1, cost: "0.000000000001" }));
    expect(projectEvents(usage, thread, ending(tokens))[1]).toEqual(spent(-1, { ...tokens, turns: 1, cost: null }));
  });

  test("counts its rounds while it runs, and the whole turn after it has ended", () => {
    const round = RoundRequested.of({ ...attempt, round: 1, usage: tokens }, { ...said, calls: [] });
    const ends = [
      TurnCompleted.of({ ...attempt, finish_reason: "stop", usage: tokens, model: "m" }, { said }),
      TurnFailed.of({ ...attempt, usage: tokens, model: "m" }, { said, message: "" }),
      TurnStopped.of({ ...attempt, usage: tokens, model: "m" }, { said }),
    ];
    expect(projectEvents(usage, thread, round)).toEqual([spent(1, tokens)]);
    for (const end of ends)
      expect(projectEvents(usage, thread, end)).toEqual([
        { table: "usage", kind: "removeWhere", where: { source_id: id } },
        spent(-1, { ...tokens, turns: 1 }),
        released,
      ]);
  });

  test("keeps its reservation until it waits for a person or ends", () => {
    const thread_id = thread.slice("thread-".length);
    expect(projectEvents(usage, thread, turnStarted(null, { reserved: "0.5" }))[1]).toEqual({
      table: "usage_reservations",
      kind: "put",
      key: { organization_id: ORGANIZATION, turn_id: id },
      row: { thread_id, reserved: "0.5", attempt: 1 },
    });
    expect(projectEvents(usage, thread, TurnParked.of({ ...attempt, frames: "f", left_ms: 1 }))).toEqual([
      { ...released, kind: "patch", row: { reserved: "0", attempt: 2 } },
    ]);
  });

  test("removes a refused turn", () => {
    expect(projectEvents(usage, thread, TurnRefused.of({ ...attempt, code: null }))).toEqual([
      { ...source, kind: "remove" },
      { table: "usage_users", kind: "remove", key: { id } },
      released,
      dropped,
    ]);
  });

  test("has the size of its attachments", () => {
    const thread_id = thread.slice("thread-".length);
    const none = { thread_id, project_id: null, agent_id: null, user_mark: null };
    const changes = projectEvents(usage, thread, turnStarted(null, { stored_bytes: 7 }));
    expect(changes[1]).toEqual(held({ bytes: 7 }, none));
  });
});

test("the usage projection holds files and documents until they are deleted", () => {
  const file = { file_id: id, bytes: 5, mime_type: "text/plain", blob: "b", scope: "s", user_mark: "m" };
  const uploaded = FileUploaded.of(file, { filename: "", purpose: "", sha256: "" });
  const changes = projectEvents(usage, `file-${id}`, uploaded, FileDeleted.of({ file_id: id }));
  expect(changes).toEqual([held({ bytes: 5 }, { user_mark: "m" }), dropped]);
  const ofRun = FileUploaded.of({ ...file, project_id: agent_id }, { filename: "", purpose: "", sha256: "" });
  expect(projectEvents(usage, `file-${id}`, ofRun)).toMatchObject([{ row: { project_id: agent_id } }]);
  const placed = { document_id: id, collection_id: id, content_claim: "c", external_claim: null };
  const gone = projectEvents(usage, `document-${id}`, documentUploaded(id), DocumentDeleted.of(placed));
  expect(gone.slice(1)).toEqual([held({ bytes: 1, documents: 1 }), dropped]);
});

test("the usage projection keeps the project of keys and agents when they are deleted", () => {
  const placed = (owner: string, project_id: string | null) => ({
    table: "usage_projects",
    kind: "put",
    key: { owner },
    row: { organization_id: ORGANIZATION, project_id },
  });
  const settings = { products: [], expires_at: null, enabled: true, allowed_models: null };
  const key = KeyCreated.of(
    { key_id: id, key_hash: "h", key_hint: "i", project_id: agent_id, ...settings },
    { name: "K" },
  );
  expect(projectEvents(usage, `key-${id}`, key, KeyDeleted.of({ key_id: id }))).toEqual([
    placed(`key:${id}`, agent_id),
  ]);
  const changed = (data: object) => AgentChanged.of({ agent_id: id, version: 2, ...data }, {});
  const changes = projectEvents(
    usage,
    `agent-${id}`,
    changed({ api_enabled: false }),
    changed({ project_id: null }),
    AgentDeleted.of({ agent_id: id }),
  );
  expect(changes).toEqual([placed(`agent:${id}`, null)]);
});

test("the usage projection counts each model that answered, and the turn for the last", () => {
  const [a, b] = ["p/a", "p/b"].map((model) => ({ model, usage: tokens }));
  const data = { turn_id: id, attempt: 1, finish_reason: "stop", usage: tokens, model: "p/b" } as const;
  const end = TurnCompleted.of({ ...data, usage_by_model: [a!, b!] }, { said });
  expect(projectEvents(usage, thread, end)).toEqual([
    { table: "usage", kind: "removeWhere", where: { source_id: id } },
    spent(-1, { turns: 1, ...tokens, model: '"p/b"' }),
    spent(-2, { ...tokens, model: '"p/a"' }),
    released,
  ]);
});

test("the usage projection counts the pages of documents and extractions when they are charged, each reading for its payer", () => {
  const file = { mime_type: "text/plain", size_bytes: 1, blob: "b", content_claim: "c" };
  const uploaded = documentUploaded(id);
  const indexed = (generation: number, units: number) =>
    DocumentIndexed.of({ document_id: id, generation, indexed_at: RECORDED_AT.toISOString(), units, unused: [] });
  const again = DocumentReprocessed.of({ document_id: id, generation: 2, worker: null, reextract: true });
  const reading = (generation: number) => ({ ...source, key: { id, generation }, kind: "put", row });
  const changes = projectEvents(usage, `document-${id}`, uploaded, indexed(1, 3), again, indexed(2, 4));
  expect(changes).toEqual([
    reading(1),
    held({ bytes: 1, documents: 1 }),
    spent(1, { generation: 1, pages: 3 }),
    reading(2),
    spent(2, { generation: 2, pages: 4 }),
  ]);
  const requested = ExtractionRequested.of(
    { ...file, extraction_id: id, expires_at: RECORDED_AT.toISOString(), worker: null },
    { name: "", sha256: "" },
  );
  const text = { text: "t", page_count: null, chunk_count: 1, characters: 1 };
  const completed = ExtractionCompleted.of({ ...text, extraction_id: id, attempt: 1, units: 2 });
  expect(projectEvents(usage, `extraction-${id}`, requested, completed)).toEqual([
    { ...source, kind: "put", row },
    held({ bytes: 1 }),
    spent(0, { pages: 2 }),
  ]);
});
