import { describe, expect, test } from "vitest";
import { WorkflowChanged, WorkflowRegistered } from "#events/workflow.ts";
import { command, given } from "#test/given.ts";
import { DEFAULT_ENVELOPE } from "./envelope.ts";
import { workflow } from "./workflow.ts";

const workflow_id = "w1";
const settings = { definition_id: "d1", definition_version: 2, project_id: null, enabled: true };
const words = { name: "Refund", description: "" };
const envelope = { ...DEFAULT_ENVELOPE, secrets: ["shop_key"], egress: ["api.example.com"] };
const registered = WorkflowRegistered.of({ workflow_id, ...settings, envelope }, words);
const change = (data: object) => command("ChangeWorkflow", { workflow_id, ...data });

describe("a workflow", () => {
  test("is registered with the default envelope and its differences", () => {
    given(workflow)
      .when(
        command("RegisterWorkflow", {
          workflow_id,
          ...settings,
          ...words,
          envelope: { secrets: ["shop_key"], egress: ["api.example.com"], tools: null },
        }),
      )
      .then(registered);
    given(workflow, [registered])
      .when(command("RegisterWorkflow", { workflow_id, ...settings, ...words, envelope: {} }))
      .rejected("workflow_exists");
  });

  test("holds its public fields in its state", () => {
    expect(given(workflow).state).toEqual({ status: "absent" });
    const { state } = given(workflow, [
      registered,
      WorkflowChanged.of({ workflow_id, enabled: false, envelope: DEFAULT_ENVELOPE, envelope_version: 2 }, {}),
      WorkflowChanged.of({ workflow_id, definition_version: 3, project_id: "p1", envelope_version: 2 }, { name: "x" }),
    ]);
    expect(state).toEqual({
      status: "registered",
      definition_id: "d1",
      definition_version: 3,
      project_id: "p1",
      enabled: false,
      envelope: DEFAULT_ENVELOPE,
      envelope_version: 2,
    });
  });

  test("records only the fields that differ", () => {
    const when = given(workflow, [registered]).when;
    when(change({ enabled: false, definition_version: 2 })).then(
      WorkflowChanged.of({ workflow_id, enabled: false, envelope_version: 1 }, {}),
    );
    when(change({ enabled: true, project_id: null, envelope: { secrets: ["shop_key"], limits: {} } })).then();
    when(change({})).then();
    when(change({ description: "Pays back" })).then(
      WorkflowChanged.of({ workflow_id, envelope_version: 1 }, { description: "Pays back" }),
    );
    given(workflow)
      .when(change({ enabled: false }))
      .rejected("workflow_not_found");
  });

  test("counts its envelopes, and concurrent changes do not undo each other", () => {
    const secrets = WorkflowChanged.of(
      { workflow_id, envelope: { ...envelope, secrets: ["other"] }, envelope_version: 2 },
      {},
    );
    const first = given(workflow, [registered]).when(change({ envelope: { secrets: ["other"] } }));
    first.then(secrets);
    given(workflow, [registered, secrets])
      .when(change({ envelope: { egress: [] } }))
      .then(
        WorkflowChanged.of(
          { workflow_id, envelope: { ...envelope, secrets: ["other"], egress: [] }, envelope_version: 3 },
          {},
        ),
      );
  });
});
