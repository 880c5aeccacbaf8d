import { describe, expect, test } from "vitest";
import { Envelope, WorkflowChanged, WorkflowRegistered } from "#events/workflow.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { runCreated } from "#test/samples.ts";
import { workflows } from "./project.ts";

const id = (n: number) => `0198c0de-0000-7000-8000-00000000000${n}`;
const workflow_id = id(1);
const key = { id: workflow_id };
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(workflows, `workflow-${workflow_id}`, ...events);
const envelope = Envelope.parse({ tools: ["web_fetch"] });
const registered = WorkflowRegistered.of(
  { workflow_id, definition_id: id(2), definition_version: 3, project_id: null, enabled: true, envelope },
  { name: "Refund \u0000", description: "" },
);

describe("the workflows projection", () => {
  test("inserts a registered workflow", () => {
    expect(from(registered)).toEqual([
      {
        table: "workflows",
        kind: "put",
        key,
        row: {
          organization_id: ORGANIZATION,
          definition_id: id(2),
          definition_version: 3,
          project_id: null,
          enabled: true,
          envelope: JSON.stringify(envelope),
          envelope_version: 1,
          name: JSON.stringify("Refund \u0000"),
          description: '""',
          created_by: "system",
          created_at: RECORDED_AT,
          updated_at: RECORDED_AT,
        },
      },
    ]);
    expect(from(erased(registered))).toEqual([]);
  });

  test("patches only the changed columns", () => {
    const patch = { table: "workflows", kind: "patch", key };
    expect(from(WorkflowChanged.of({ workflow_id, enabled: false, envelope_version: 1 }, {}))).toEqual([
      { ...patch, row: { enabled: false, envelope_version: 1, updated_at: RECORDED_AT } },
    ]);
    const changed = WorkflowChanged.of({ workflow_id, envelope, envelope_version: 2 }, { name: "new" });
    expect(from(changed)).toEqual([
      {
        ...patch,
        row: { envelope: JSON.stringify(envelope), envelope_version: 2, name: '"new"', updated_at: RECORDED_AT },
      },
    ]);
    expect(from(erased(changed))).toMatchObject([{ row: { envelope_version: 2 } }]);
  });

  test("stores the last start of a trigger, and nothing for a run without a trigger", () => {
    const run = (trigger_id: string | null) =>
      runCreated({ run_id: id(4), workflow_id, trigger_id, started_by: { type: "webhook", id: id(5) } });
    expect(from(run(id(5)), run(null), erased(run(id(6))))).toEqual(
      [id(5), id(6)].map((trigger_id) => ({
        table: "trigger_starts",
        kind: "put",
        key: { trigger_id },
        row: { started_at: RECORDED_AT },
      })),
    );
  });
});
